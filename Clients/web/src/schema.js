// Written by protocol/generate_web.py from protocol/schema.
export const schema = `StreamPosition epoch:u offset:u
Subscribe channel:s features:u after:StreamPosition requestId:u channelType:i token:s publishers:s* ownMessages:b
Subscribed position:StreamPosition featuresUnavailable:u gap:b statesSet:b
Unsubscribe channel:s channelType:i
Publish channelType:i channel:s messageType:i payload:y customType:s storeInHistory:b sequence:u again:b ageMs:u epoch:u priority:i origin:u
Published offset:u timestampMs:u
Message type:i payload:y customType:s priority:i
Gap channelType:i channel:s position:StreamPosition
Limit name:s value:u
Error code:i reason:s retryAfterMs:u limit
ClientFrame requestId:u hello login logout heartbeat subscribe unsubscribe publish 16renewToken
ServerFrame requestId:u welcome loggedIn loggedOut heartbeatAck subscribed unsubscribed published error publication gap disconnect 16tokenRenewed tokenWillExpire done
Publication channelType:i channel:s offset:u timestampMs:u publisher:s message 10order:u
Hello versionMin:u versionMax:u client:s
Welcome version:u serverTimeMs:u frameBytesMax:u server:s handshakeTimeoutMs:u
Login appId:s userId:s token:s heartbeatIntervalS:u presenceTimeoutS:u inboxAfter:StreamPosition instance:u attempt:u asked:b subscriptions:Subscribe*
LoggedIn sessionId:u serverTimeMs:u heartbeatIntervalS:u heartbeatGraceS:u inboxPosition:StreamPosition inboxGap:b subscriptions:u followedUsers:u
RenewToken token:s channel:s
TokenWillExpire remainingMs:u channel:s
HeartbeatAck serverTimeMs:u
Disconnect code:i reason:s retryAfterMs:u`;
