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
Error 1code:i 2reason:s 3retryAfterMs:u 4limit 5conflict
ClientFrame 1requestId:u 2hello 3login 4logout 5heartbeat 6subscribe 7unsubscribe 8publish 16renewToken 20whoNow 21whereNow 22setState 23getState 24removeState 30writeMetadata 31getMetadata 32subscribeUserMetadata 33unsubscribeUserMetadata 40setLock 41removeLock 42acquireLock 43releaseLock 44revokeLock 45getLocks 50getHistory
ServerFrame 1requestId:u 2welcome 3loggedIn 4loggedOut 5heartbeatAck 6subscribed 7unsubscribed 8published 9error 10publication 11gap 12disconnect 16tokenRenewed 17tokenWillExpire 18done 19channelEnded 20onlineUsers 21userChannels 23userState 25presenceSnapshot 30metadataWritten 31metadata 32userMetadataSubscribed 42lockAcquired 45locks 50historyPage
GetHistory 1channelType:i 2channel:s 3count:u 4startMs:u 5endMs:u
HistoryPage 1messages:HistoryMessage* 2newStartMs:u
HistoryMessage 1type:i 2payload:y 3customType:s 4publisher:s 5timestampMs:u
LockDetail 1name:s 2owner:s 3ttlS:u 4fencingToken:u
SetLock 1channelType:i 2channel:s 3name:s 4ttlS:u
RemoveLock 1channelType:i 2channel:s 3name:s
AcquireLock 1channelType:i 2channel:s 3name:s 4retry:b 5heldToken:u
LockAcquired 1fencingToken:u
ReleaseLock 1channelType:i 2channel:s 3name:s 4withdraw:b
RevokeLock 1channelType:i 2channel:s 3name:s 4owner:s
GetLocks 1channelType:i 2channel:s
Locks 1channelType:i 2channel:s 3revision:u 4locks:LockDetail*
LockEvent 1type:i 2lock:LockDetail 3revision:u
StateItem 1key:s 2value:s
UserState 1userId:s 2items:StateItem*
WhoNow 1channelType:i 2channel:s 3includeUserId:b 4includeState:b 5page:s
OnlineUsers 1users:UserState* 2nextPage:s 3total:u
WhereNow 1userId:s
UserChannels 1channels:UserChannel*
UserChannel 1type:i 2name:s
SetState 1channelType:i 2channel:s 3items:StateItem*
GetState 1channelType:i 2channel:s 3userId:s
RemoveState 1channelType:i 2channel:s 3keys:s*
PresenceSnapshot 1channelType:i 2channel:s 3position:StreamPosition 4users:UserState* 5more:b
StateChange 1userId:s 2items:StateItem* 3removed:s* 4whole:b
PresenceEvent 1type:i 3interval:PresenceInterval 4states:StateChange
PresenceInterval 1joined:s* 2left:s* 3timedOut:s* 5states:StateChange*
Publication 1channelType:i 2channel:s 3offset:u 4timestampMs:u 5publisher:s 6message 7presence:PresenceEvent 8storage:StorageEvent 9lock:LockEvent
Hello 1versionMin:u 2versionMax:u 3client:s
Welcome 1version:u 2serverTimeMs:u 3frameBytesMax:u 4server:s 5handshakeTimeoutMs:u
Login 1appId:s 2userId:s 3token:s 4heartbeatIntervalS:u 5presenceTimeoutS:u 6inboxAfter:StreamPosition 7instance:u 8attempt:u 9asked:b 10subscriptions:Subscribe* 11followedUsers:SubscribeUserMetadata*
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
Disconnect 1code:i 2reason:s 3retryAfterMs:u
MetadataItem 1key:s 2value:s 3revision:i 4updateTsMs:u 5author:s
WriteMetadata 1channelType:i 2target:s 3kind:i 4items:MetadataItem* 5majorRevision:i 6recordTs:b 7recordAuthor:b 8lock:s 9fencingToken:u
MetadataWritten 1majorRevision:i
GetMetadata 1channelType:i 2target:s
Metadata 1channelType:i 2target:s 3majorRevision:i 4items:MetadataItem*
SubscribeUserMetadata 1userId:s 2after:StreamPosition 3requestId:u
UserMetadataSubscribed 1position:StreamPosition 2gap:b
UnsubscribeUserMetadata 1userId:s
StorageEvent 1majorRevision:i 2items:MetadataItem*
Conflict 1majorRevision:i 2key:s 3revision:i`;
