// Written by protocol/generate_web.py from protocol/schema.
export const schema = `ClientFrame 50getHistory
ServerFrame 50historyPage
GetHistory 1channelType:i 2channel:s 3count:u 4startMs:u 5endMs:u
HistoryPage 1messages:HistoryMessage* 2newStartMs:u
HistoryMessage 1type:i 2payload:y 3customType:s 4publisher:s 5timestampMs:u`;
