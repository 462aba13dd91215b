/// Which byte strings are names, by length and characters (behaviour.md 1.1). All names are ASCII, so a byte
/// is a character.
///
/// The rules work on bytes because the edge checks names on every publish before a `String` exists.
public struct NameRule: Sendable {
    /// What the name names, in words: "channel name".
    let noun: String
    let bytesMax: Int
    let emptyIsAllowed: Bool
    /// Whether a name may begin with an underscore, which is reserved for the system in channel names (L-4).
    let leadingUnderscoreIsAllowed: Bool
    let tooLong: ErrorCode
    let malformed: ErrorCode
    /// Which characters a name consists of, in words.
    private let allowed: String
    private let low: UInt64
    private let high: UInt64

    init(
        _ noun: String, bytesMax: Int, emptyIsAllowed: Bool = false, leadingUnderscoreIsAllowed: Bool = true,
        tooLong: ErrorCode, malformed: ErrorCode, characters: some Sequence<UInt8>, allowed: String
    ) {
        self.noun = noun
        self.allowed = allowed
        self.bytesMax = bytesMax
        self.emptyIsAllowed = emptyIsAllowed
        self.leadingUnderscoreIsAllowed = leadingUnderscoreIsAllowed
        self.tooLong = tooLong
        self.malformed = malformed
        var low: UInt64 = 0
        var high: UInt64 = 0
        for byte in characters {
            if byte < 64 { low |= 1 << byte } else { high |= 1 << (byte - 64) }
        }
        self.low = low
        self.high = high
    }

    /// Throws the error code of the rule. The reason says which character at which place, or which length,
    /// broke the rule.
    public func check(_ name: some Collection<UInt8>) throws(RTMError) {
        let outcome =
            name.withContiguousStorageIfAvailable { verdict(on: UnsafeRawBufferPointer($0)) }
            ?? ContiguousArray(name).withUnsafeBytes(verdict)
        try outcome.get()
    }

    private func verdict(on bytes: UnsafeRawBufferPointer) -> Result<Void, RTMError> {
        Result { () throws(RTMError) in try check(bytes) }
    }

    /// Checks bytes in place, without copying them.
    public func check(_ bytes: UnsafeRawBufferPointer) throws(RTMError) {
        if bytes.isEmpty {
            guard emptyIsAllowed else { throw RTMError(malformed, "the \(noun) is empty") }
            return
        }
        guard bytes.count <= bytesMax else {
            throw RTMError(
                tooLong, "the \(noun) has \(bytes.count) bytes, \(bytesMax) are allowed",
                limit: .init(name: "\(noun) bytes", value: UInt64(bytesMax)))
        }
        if !leadingUnderscoreIsAllowed, bytes[0] == UInt8(ascii: "_") {
            throw RTMError(malformed, "the \(noun) begins with an underscore")
        }
        for place in bytes.indices where !contains(bytes[place]) {
            throw forbidden(bytes, at: place)
        }
    }

    private func forbidden(_ bytes: UnsafeRawBufferPointer, at place: Int) -> RTMError {
        let shown = Self.shown(bytes[place...].prefix(4))
        return RTMError(
            malformed,
            "the \(noun) has \(shown) at place \(place + 1), which is not allowed: "
                + "it consists of \(allowed)")
    }

    /// The first character of the bytes, as far as it can be seen.
    private static func shown(_ bytes: some Collection<UInt8>) -> String {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        let first = bytes.first ?? 0
        guard first > 0x20, case .scalarValue(let scalar) = decoder.decode(&iterator) else {
            return "byte \(first)"
        }
        let isVisible = scalar.properties.isGraphemeBase
        let number = String(scalar.value, radix: 16, uppercase: true)
        return isVisible ? "'\(scalar)'" : "the character U+\(number)"
    }

    private func contains(_ byte: UInt8) -> Bool {
        byte < 64 ? low & (1 << byte) != 0 : byte < 128 && high & (1 << (byte - 64)) != 0
    }
}

extension NameRule {
    /// Checks the bytes of a `TopicName`, and returns those of the stream channel's name.
    package static func checkTopicName(
        _ bytes: UnsafeRawBufferPointer
    ) throws(RTMError) -> UnsafeRawBufferPointer {
        guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else {
            throw RTMError(.channelInvalidTopicName, "the name of a topic is CHANNEL/TOPIC")
        }
        let channel = UnsafeRawBufferPointer(rebasing: bytes[..<slash])
        try NameRule.channel.check(channel)
        try NameRule.topic.check(UnsafeRawBufferPointer(rebasing: bytes[(slash + 1)...]))
        return channel
    }

    private static let alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "

    /// Channel names: 1 to 64 bytes of letters, digits, space and some punctuation, without a dot and without
    /// a leading underscore (L-4, L-5). An error is `.invalidChannelName` (-10008).
    public static let channel = NameRule(
        "channel name", bytesMax: Limits.channelNameBytesMax, leadingUnderscoreIsAllowed: false,
        tooLong: .invalidChannelName, malformed: .invalidChannelName,
        characters: (alphanumeric + "!#$%&()+,-:;<=>?@[]^_{|}~`").utf8,
        allowed: "a to z, A to Z, 0 to 9, space and !#$%&()+,-:;<=>?@[]^_{|}~`")

    /// Names of topics: 1 to 16 bytes of the characters of channel names (L-8). An error is
    /// `.channelInvalidTopicName` (-11008).
    public static let topic = NameRule(
        "topic name", bytesMax: Limits.topicNameBytesMax, leadingUnderscoreIsAllowed: false,
        tooLong: .channelInvalidTopicName, malformed: .channelInvalidTopicName,
        characters: (alphanumeric + "!#$%&()+,-:;<=>?@[]^_{|}~`").utf8,
        allowed: "a to z, A to Z, 0 to 9, space and !#$%&()+,-:;<=>?@[]^_{|}~`")

    /// User ids: 1 to 64 ASCII characters (L-1) from a list of 89 (L-2). An error is `.invalidUserId`
    /// (-10006).
    public static let user = NameRule(
        "user id", bytesMax: Limits.userIDBytesMax, tooLong: .invalidUserId, malformed: .invalidUserId,
        characters: (alphanumeric + "!#$%&()+-:;<=.>?@[]^_{}|~,").utf8,
        allowed: "a to z, A to Z, 0 to 9, space and !#$%&()+-:;<=.>?@[]^_{}|~,")

    /// Custom types: at most 32 bytes of printable ASCII (L-10). Errors are
    /// `.channelCustomTypeLengthOverflow` (-11029) and `.channelInvalidCustomType` (-11030).
    public static let customType = NameRule(
        "custom type", bytesMax: Limits.customTypeBytesMax, emptyIsAllowed: true,
        tooLong: .channelCustomTypeLengthOverflow, malformed: .channelInvalidCustomType,
        characters: 0x20...0x7E,
        allowed: "printable ASCII characters")

    /// Keys of metadata items: 1 to 32 bytes of printable ASCII (L-13). Errors are
    /// `.storageKeyLengthOverflow` (-12011) and `.storageInvalidKey` (-12009).
    public static let metadataKey = NameRule(
        "metadata key", bytesMax: Limits.metadataKeyBytesMax, tooLong: .storageKeyLengthOverflow,
        malformed: .storageInvalidKey, characters: 0x20...0x7E,
        allowed: "printable ASCII characters")

    /// Names of locks: 1 to 64 bytes of printable ASCII (L-11). An error is `.lockInvalidName` (-14005).
    public static let lock = NameRule(
        "lock name", bytesMax: Limits.lockNameBytesMax, tooLong: .lockInvalidName,
        malformed: .lockInvalidName, characters: 0x20...0x7E,
        allowed: "printable ASCII characters")

    /// The lock that a write of metadata names: like a lock's name, but an error is `.storageInvalidLockName`
    /// (-12007) (L-12).
    public static let lockOfWrite = NameRule(
        "lock name", bytesMax: Limits.lockNameBytesMax, tooLong: .storageInvalidLockName,
        malformed: .storageInvalidLockName, characters: 0x20...0x7E,
        allowed: "printable ASCII characters")
}
