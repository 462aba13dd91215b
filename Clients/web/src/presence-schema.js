// Written by protocol/generate_web.py from protocol/schema.
export const schema = `StateItem key:s value:s
Subscribe 9states:StateItem*
ClientFrame 20whoNow whereNow setState getState removeState
ServerFrame 20onlineUsers userChannels 23userState 25presenceSnapshot
UserState userId:s items:StateItem*
WhoNow channelType:i channel:s includeUserId:b includeState:b page:s
OnlineUsers users:UserState* nextPage:s total:u
WhereNow userId:s
UserChannels channels:UserChannel*
UserChannel type:i name:s
SetState channelType:i channel:s items:StateItem*
GetState channelType:i channel:s userId:s
RemoveState channelType:i channel:s keys:s*
PresenceSnapshot channelType:i channel:s position:StreamPosition users:UserState* more:b
StateChange userId:s items:StateItem* removed:s* whole:b
PresenceEvent type:i 3interval:PresenceInterval states:StateChange
PresenceInterval joined:s* left:s* timedOut:s* 5states:StateChange*
Publication 7presence:PresenceEvent`;
