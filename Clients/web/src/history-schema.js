// Written by protocol/generate_web.py from protocol/schema.
export const schema = `ClientFrame 50getHistory
ServerFrame 50historyPage
GetHistory channelType:i channel:s count:u startMs:u endMs:u
HistoryPage messages:HistoryMessage* newStartMs:u
HistoryMessage type:i payload:y customType:s publisher:s timestampMs:u order:u`;
