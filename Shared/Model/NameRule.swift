/// Which byte strings are names: length and characters (behaviour.md 1.1). All names are ASCII, so bytes are
/// characters.
///
/// The rules work on bytes because the edge checks them on every publish before a `String` exists.
public struct NameRule: Sendable {
    /// What is named, in words: "channel name".
    let noun: String
    let bytesMax: Int
    let emptyIsAllowed: Bool
    /// A leading underscore is kept for the system (L-4).
    let leadingUnderscoreIsAllowed: Bool
    let tooLong: ErrorCode
    let malformed: ErrorCode
    private let low: UInt64
    private let high: UInt64

    init(
        _ noun: String, bytesMax: Int, emptyIsAllowed: Bool = false, leadingUnderscoreIsAllowed: Bool = true,
        tooLong: ErrorCode, malformed: ErrorCode, characters: some Sequence<UInt8>
    ) {
        self.noun = noun
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

    /// Throws the code of the rule and says which character at which place, or which length, broke it.
    public func check(_ name: some Collection<UInt8>) throws(RTMError) {
        let copy = ContiguousArray(name)
        let verdict: Result<Void, RTMError> = copy.withUnsafeBytes { bytes in
            Result { () throws(RTMError) in try check(bytes) }
        }
        try verdict.get()
    }

    /// The same for bytes where they lie.
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
            throw forbidden(bytes[place], at: place + 1)
        }
    }

    private func forbidden(_ byte: UInt8, at place: Int) -> RTMError {
        let shown = byte > 0x20 && byte < 0x7F ? "'\(Character(UnicodeScalar(byte)))'" : "byte \(byte)"
        return RTMError(malformed, "the \(noun) has \(shown) at place \(place), which is not allowed")
    }

    private func contains(_ byte: UInt8) -> Bool {
        byte < 64 ? low & (1 << byte) != 0 : byte < 128 && high & (1 << (byte - 64)) != 0
    }
}

extension NameRule {
    private static let alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "

    /// L-4, L-5.
    public static let channel = NameRule(
        "channel name", bytesMax: Limits.channelNameBytesMax, leadingUnderscoreIsAllowed: false,
        tooLong: .invalidChannelName, malformed: .invalidChannelName,
        characters: (alphanumeric + "!#$%&()+,-:;<=>?@[]^_{|}~`").utf8)

    /// L-1, L-2.
    public static let user = NameRule(
        "user id", bytesMax: Limits.userIDBytesMax, tooLong: .invalidUserId, malformed: .invalidUserId,
        characters: (alphanumeric + "!#$%&()+-:;<=.>?@[]^_{}|~,").utf8)

    /// L-10.
    public static let customType = NameRule(
        "custom type", bytesMax: Limits.customTypeBytesMax, emptyIsAllowed: true,
        tooLong: .channelCustomTypeLengthOverflow, malformed: .channelInvalidCustomType,
        characters: 0x20...0x7E)

    /// L-13.
    public static let metadataKey = NameRule(
        "metadata key", bytesMax: Limits.metadataKeyBytesMax, tooLong: .storageKeyLengthOverflow,
        malformed: .storageInvalidKey, characters: 0x20...0x7E)

    /// L-11.
    public static let lock = NameRule(
        "lock name", bytesMax: Limits.lockNameBytesMax, tooLong: .lockInvalidName,
        malformed: .lockInvalidName, characters: 0x20...0x7E)

    /// L-12: the lock that a write of metadata names.
    public static let lockOfWrite = NameRule(
        "lock name", bytesMax: Limits.lockNameBytesMax, tooLong: .storageInvalidLockName,
        malformed: .storageInvalidLockName, characters: 0x20...0x7E)
}
