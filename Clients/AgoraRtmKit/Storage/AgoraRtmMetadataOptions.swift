/// What a write of metadata records with each item (D-11). Copied by the call.
public final class AgoraRtmMetadataOptions: NSObject {
    /// When it was written: `updateTs`.
    public var recordTs = false
    /// Who wrote it: `authorUserId`.
    public var recordUserId = false

    override public init() { super.init() }
}
