// Written by protocol/generate_web.py from protocol/schema.
export const schema = `StreamPosition 1epoch:u 2offset:u
Subscribe 1channel:s 2features:u 3after:StreamPosition 4requestId:u 5channelType:i 6token:s 7publishers:s*
Subscribed 1position:StreamPosition 2featuresUnavailable:u 3gap:b
Unsubscribe 1channel:s 2channelType:i
Unsubscribed
Publish 1channelType:i 2channel:s 3messageType:i 4payload:y 5customType:s 6storeInHistory:b 7sequence:u 8again:b 9ageMs:u 10epoch:u 11priority:i 12origin:u
Published 1offset:u 2timestampMs:u
Message 1type:i 2payload:y 3customType:s 4priority:i
Gap 1channelType:i 2channel:s 3position:StreamPosition
Limit 1name:s 2value:u
Error 1code:i 2reason:s 3retryAfterMs:u 4limit
ClientFrame 1requestId:u 2hello 3login 4logout 5heartbeat 6subscribe 7unsubscribe 8publish 16renewToken
ServerFrame 1requestId:u 2welcome 3loggedIn 4loggedOut 5heartbeatAck 6subscribed 7unsubscribed 8published 9error 10publication 11gap 12disconnect 16tokenRenewed 17tokenWillExpire 18done 19channelEnded
Publication 1channelType:i 2channel:s 3offset:u 4timestampMs:u 5publisher:s 6message
Hello 1versionMin:u 2versionMax:u 3client:s
Welcome 1version:u 2serverTimeMs:u 3frameBytesMax:u 4server:s 5handshakeTimeoutMs:u
Login 1appId:s 2userId:s 3token:s 4heartbeatIntervalS:u 5presenceTimeoutS:u 6inboxAfter:StreamPosition 7instance:u 8attempt:u 9asked:b 10subscriptions:Subscribe*
LoggedIn 1sessionId:u 2serverTimeMs:u 3heartbeatIntervalS:u 4heartbeatGraceS:u 5inboxPosition:StreamPosition 6inboxGap:b 7subscriptions:u 8followedUsers:u 9publishRates
PublishRates 1targetMessages:u 2sessionMessages:u 3sessionBytes:u 4topicMessages:u
RenewToken 1token:s 2channel:s
TokenRenewed
TokenWillExpire 1remainingMs:u 2channel:s
ChannelEnded 1channelType:i 2channel:s 3error
Done
Logout
LoggedOut
Heartbeat
HeartbeatAck 1serverTimeMs:u
Disconnect 1code:i 2reason:s 3retryAfterMs:u`;
