/// What the client logs.
///
/// Records go to swift-log's `LoggingSystem` under the label `AgoraRtmKit`, so the app decides where they end
/// up. Tokens and message contents are never logged.
public final class AgoraRtmLogConfig: NSObject, NSCopying {
    /// Accepted without effect: the client writes no file of its own.
    public var filePath: String?
    /// Accepted without effect, as is `filePath`. In kilobytes.
    public var fileSizeInKB: Int32 = 1024
    public var level: AgoraRtmLogLevel = .info

    override public init() { super.init() }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = AgoraRtmLogConfig()
        copy.filePath = filePath
        copy.fileSizeInKB = fileSizeInKB
        copy.level = level
        return copy
    }
}
