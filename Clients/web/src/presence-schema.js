// Written by protocol/generate_web.py from protocol/schema.
export const schema = `ClientFrame 20whoNow 21whereNow 22setState 23getState 24removeState
ServerFrame 20onlineUsers 21userChannels 23userState 25presenceSnapshot
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
Publication 7presence:PresenceEvent`;
