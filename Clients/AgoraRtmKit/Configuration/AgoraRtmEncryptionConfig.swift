/// How messages, temporary states and metadata values are encrypted between clients. The server never sees
/// the key. All clients of an app have to use the same mode, key and salt.
public final class AgoraRtmEncryptionConfig: NSObject, NSCopying {
    /// The cipher. The format is our own, so clients of the vendor can't read it (E-6).
    public var encryptionMode: AgoraRtmEncryptionMode = .none
    /// The key; it may have any length, and 32 bytes are advised.
    public var encryptionKey: String?
    /// The salt, 32 bytes.
    public var encryptionSalt: Data?

    /// The same value, under the name that the documents use for ``encryptionSalt``.
    public var encryptionKdfSalt: Data? {
        get { encryptionSalt }
        set { encryptionSalt = newValue }
    }

    override public init() { super.init() }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = AgoraRtmEncryptionConfig()
        copy.encryptionMode = encryptionMode
        copy.encryptionKey = encryptionKey
        copy.encryptionSalt = encryptionSalt
        return copy
    }
}
