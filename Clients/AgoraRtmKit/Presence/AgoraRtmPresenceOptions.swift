/// What `whoNow` lists. Copied by the call.
public class AgoraRtmPresenceOptions: NSObject {
    /// With both flags off only the number of users is answered (P-32).
    public var includeUserId = true
    /// With their temporary states; not without the users themselves (P-34).
    public var includeState = false
    /// `nextPage` of the page before; empty = the first.
    public var page = ""

    override public init() { super.init() }
}

/// What `getOnlineUsers` lists. Copied by the call.
public final class AgoraRtmGetOnlineUsersOptions: AgoraRtmPresenceOptions {}
