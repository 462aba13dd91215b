import RTMProtocol

/// What a frame is called in a record of a client: as in protocol/README.md.
enum FrameName {
    static func of(_ body: ClientBody?) -> String {
        switch body {
        case .hello: "Hello"
        case .login: "Login"
        case .logout: "Logout"
        case .heartbeat: "Heartbeat"
        case .subscribe: "Subscribe"
        case .unsubscribe: "Unsubscribe"
        case .publish: "Publish"
        case .renewToken: "RenewToken"
        case .whoNow, .whereNow, .setState, .getState, .removeState: "presence"
        case .writeMetadata, .getMetadata, .subscribeUserMetadata, .unsubscribeUserMetadata: "metadata"
        case .setLock, .removeLock, .acquireLock, .releaseLock, .revokeLock, .getLocks: "locks"
        case .getHistory: "GetHistory"
        case nil: "unknown"
        }
    }

    static func of(_ body: ServerBody?) -> String {
        switch body {
        case .welcome: "Welcome"
        case .loggedIn: "LoggedIn"
        case .loggedOut: "LoggedOut"
        case .heartbeatAck: "HeartbeatAck"
        case .subscribed: "Subscribed"
        case .unsubscribed: "Unsubscribed"
        case .published: "Published"
        case .error: "Error"
        case .publication: "Publication"
        case .gap: "Gap"
        case .disconnect: "Disconnect"
        case .tokenRenewed, .tokenWillExpire: "token"
        case .done: "Done"
        case .channelEnded: "ChannelEnded"
        case .onlineUsers, .userChannels, .userState, .presenceSnapshot: "presence"
        case .metadataWritten, .metadata, .userMetadataSubscribed: "metadata"
        case .lockAcquired, .locks: "locks"
        case .historyPage: "HistoryPage"
        case nil: "unknown"
        }
    }
}
