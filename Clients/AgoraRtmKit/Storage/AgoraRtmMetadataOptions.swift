/// What a write of metadata records with each item (D-11). The call copies the object.
public final class AgoraRtmMetadataOptions: NSObject {
    /// Whether the time of the write is recorded in `updateTs`.
    public var recordTs = false
    /// Whether the writer's user id is recorded in `authorUserId`.
    public var recordUserId = false

    override public init() { super.init() }
}
