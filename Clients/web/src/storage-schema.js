// Written by protocol/generate_web.py from protocol/schema.
export const schema = `Error 5conflict
ClientFrame 30writeMetadata getMetadata subscribeUserMetadata unsubscribeUserMetadata
ServerFrame 30metadataWritten metadata userMetadataSubscribed
Publication 8storage:StorageEvent
Login 11followedUsers:SubscribeUserMetadata*
MetadataItem key:s value:s revision:i updateTsMs:u author:s
WriteMetadata channelType:i target:s kind:i items:MetadataItem* majorRevision:i recordTs:b recordAuthor:b lock:s fencingToken:u
MetadataWritten majorRevision:i
GetMetadata channelType:i target:s
Metadata channelType:i target:s majorRevision:i items:MetadataItem*
SubscribeUserMetadata userId:s after:StreamPosition requestId:u
UserMetadataSubscribed position:StreamPosition gap:b
UnsubscribeUserMetadata userId:s
StorageEvent majorRevision:i items:MetadataItem*
Conflict majorRevision:i key:s revision:i`;
