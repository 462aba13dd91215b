// Written by protocol/generate_web.py from protocol/schema.
export const schema = `ClientFrame 40setLock 41removeLock 42acquireLock 43releaseLock 44revokeLock 45getLocks
ServerFrame 42lockAcquired 45locks
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
Publication 9lock:LockEvent`;
