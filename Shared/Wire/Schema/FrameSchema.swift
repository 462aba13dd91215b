// Written by protocol/generate_wire.py from client/frame.proto: `make generate`.
// swift-format-ignore-file

extension Schema {
    /// rtm.client.ClientFrame
    package enum ClientFrame {
        package static var requestId: SchemaField<UInt64> { SchemaField(1) }
        package static var hello: SchemaField<Hello> { SchemaField(2) }
        package static var login: SchemaField<Login> { SchemaField(3) }
        package static var logout: SchemaField<Logout> { SchemaField(4) }
        package static var heartbeat: SchemaField<Heartbeat> { SchemaField(5) }
        package static var subscribe: SchemaField<Subscribe> { SchemaField(6) }
        package static var unsubscribe: SchemaField<Unsubscribe> { SchemaField(7) }
        package static var publish: SchemaField<Publish> { SchemaField(8) }
        package static var renewToken: SchemaField<RenewToken> { SchemaField(16) }
        package static var whoNow: SchemaField<WhoNow> { SchemaField(20) }
        package static var whereNow: SchemaField<WhereNow> { SchemaField(21) }
        package static var setState: SchemaField<SetState> { SchemaField(22) }
        package static var getState: SchemaField<GetState> { SchemaField(23) }
        package static var removeState: SchemaField<RemoveState> { SchemaField(24) }
        package static var writeMetadata: SchemaField<WriteMetadata> { SchemaField(30) }
        package static var getMetadata: SchemaField<GetMetadata> { SchemaField(31) }
        package static var subscribeUserMetadata: SchemaField<SubscribeUserMetadata> { SchemaField(32) }
        package static var unsubscribeUserMetadata: SchemaField<UnsubscribeUserMetadata> { SchemaField(33) }
        package static var setLock: SchemaField<SetLock> { SchemaField(40) }
        package static var removeLock: SchemaField<RemoveLock> { SchemaField(41) }
        package static var acquireLock: SchemaField<AcquireLock> { SchemaField(42) }
        package static var releaseLock: SchemaField<ReleaseLock> { SchemaField(43) }
        package static var revokeLock: SchemaField<RevokeLock> { SchemaField(44) }
        package static var getLocks: SchemaField<GetLocks> { SchemaField(45) }
        package static var getHistory: SchemaField<GetHistory> { SchemaField(50) }
    }

    /// rtm.client.ServerFrame
    package enum ServerFrame {
        package static var requestId: SchemaField<UInt64> { SchemaField(1) }
        package static var welcome: SchemaField<Welcome> { SchemaField(2) }
        package static var loggedIn: SchemaField<LoggedIn> { SchemaField(3) }
        package static var loggedOut: SchemaField<LoggedOut> { SchemaField(4) }
        package static var heartbeatAck: SchemaField<HeartbeatAck> { SchemaField(5) }
        package static var subscribed: SchemaField<Subscribed> { SchemaField(6) }
        package static var unsubscribed: SchemaField<Unsubscribed> { SchemaField(7) }
        package static var published: SchemaField<Published> { SchemaField(8) }
        package static var error: SchemaField<Error> { SchemaField(9) }
        package static var publication: SchemaField<Publication> { SchemaField(10) }
        package static var gap: SchemaField<Gap> { SchemaField(11) }
        package static var disconnect: SchemaField<Disconnect> { SchemaField(12) }
        package static var tokenRenewed: SchemaField<TokenRenewed> { SchemaField(16) }
        package static var tokenWillExpire: SchemaField<TokenWillExpire> { SchemaField(17) }
        package static var done: SchemaField<Done> { SchemaField(18) }
        package static var channelEnded: SchemaField<ChannelEnded> { SchemaField(19) }
        package static var onlineUsers: SchemaField<OnlineUsers> { SchemaField(20) }
        package static var userChannels: SchemaField<UserChannels> { SchemaField(21) }
        package static var userState: SchemaField<UserState> { SchemaField(23) }
        package static var presenceSnapshot: SchemaField<PresenceSnapshot> { SchemaField(25) }
        package static var metadataWritten: SchemaField<MetadataWritten> { SchemaField(30) }
        package static var metadata: SchemaField<Metadata> { SchemaField(31) }
        package static var userMetadataSubscribed: SchemaField<UserMetadataSubscribed> { SchemaField(32) }
        package static var lockAcquired: SchemaField<LockAcquired> { SchemaField(42) }
        package static var locks: SchemaField<Locks> { SchemaField(45) }
        package static var historyPage: SchemaField<HistoryPage> { SchemaField(50) }
    }
}
