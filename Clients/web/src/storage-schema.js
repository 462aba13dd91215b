// Written by protocol/generate_web.py from protocol/schema.
export const schema = `Error 5conflict
ClientFrame 30writeMetadata 31getMetadata 32subscribeUserMetadata 33unsubscribeUserMetadata
ServerFrame 30metadataWritten 31metadata 32userMetadataSubscribed
Publication 8storage:StorageEvent
Login 11followedUsers:SubscribeUserMetadata*
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
