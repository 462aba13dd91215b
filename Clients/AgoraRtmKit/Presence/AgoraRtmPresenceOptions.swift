/// What `whoNow` lists. The call copies the object.
public final class AgoraRtmPresenceOptions: NSObject {
    /// Whether users are listed. With both flags off the answer holds only the number of users (P-32).
    public var includeUserId = true
    /// Whether users are listed with their temporary states. This needs `includeUserId` (P-34).
    public var includeState = false
    /// `nextPage` of the page before; empty for the first page.
    public var page = ""

    override public init() { super.init() }
}

/// What `getOnlineUsers` lists. The call copies the object.
public final class AgoraRtmGetOnlineUsersOptions: NSObject {
    /// Whether users are listed. With both flags off the answer holds only the number of users (P-32).
    public var includeUserId = true
    /// Whether users are listed with their temporary states. This needs `includeUserId` (P-34).
    public var includeState = false
    /// `nextPage` of the page before; empty for the first page.
    public var page = ""

    override public init() { super.init() }
}
