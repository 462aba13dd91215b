// Written by protocol/generate_web.py from protocol/schema.
export const schema = `ClientFrame 40setLock removeLock acquireLock releaseLock revokeLock getLocks
ServerFrame 42lockAcquired 45locks
LockDetail name:s owner:s ttlS:u fencingToken:u
SetLock channelType:i channel:s name:s ttlS:u
RemoveLock channelType:i channel:s name:s
AcquireLock channelType:i channel:s name:s retry:b heldToken:u
LockAcquired fencingToken:u
ReleaseLock channelType:i channel:s name:s withdraw:b
RevokeLock channelType:i channel:s name:s owner:s
GetLocks channelType:i channel:s
Locks channelType:i channel:s revision:u locks:LockDetail*
LockEvent type:i lock:LockDetail revision:u
Publication 9lock:LockEvent`;
