/// What the client logs, and where (N-7).
///
/// The client logs the changes of its link, what was lost, and what it could not decrypt. Tokens and message
/// contents are never logged.
public final class AgoraRtmLogConfig: NSObject, NSCopying {
    /// The file, or a folder that exists or ends with a slash, in which the file is named `agora.log`.
    /// Folders on the way to it are made. With nil records go to swift-log's `LoggingSystem` under the label
    /// `AgoraRtmKit`, so that the app decides where they end up.
    ///
    /// A file that can't be written is refused when the client is made, with `.initServiceFailed` (-10007).
    public var filePath: String?
    /// How long the file may become, in kilobytes: 128…1024. A value outside becomes the nearest bound
    /// (L-48). A full file is renamed, `agora.log` to `agora.log.1`, and four older ones are kept.
    public var fileSizeInKB: Int32 = 1024
    /// Every record of this level or a more severe one is logged.
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
