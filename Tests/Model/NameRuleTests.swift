import RTMModel
import Testing

/// The name rules L-1…L-13, byte by byte. The allowed characters are written here a second time, from the
/// rules and not from the code, so that a slip in either is noticed.
@Suite("Names")
struct NameRuleTests {
    static let lettersDigitsSpace = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ".utf8)
    static let user = lettersDigitsSpace.union("!#$%&()+-:;<=.>?@[]^_{}|~,".utf8)
    static let every = Set(UInt8.min...UInt8.max)
    static let channel = lettersDigitsSpace.union("!#$%&()+,-:;<=>?@[]^_{|}~`".utf8)

    // MARK: Characters

    @Test("L-2: a user id consists of the 89 listed characters and no other byte")
    func userCharacters() {
        let accepted = bytes { refusal(NameRule.user, [$0]) == nil }
        #expect(accepted == Self.user)
        #expect(accepted.count == 89)
        #expect(bytes { refusal(NameRule.user, [$0]) == .invalidUserId } == Self.every.subtracting(accepted))
    }

    @Test("L-4, L-5: a channel name consists of the listed characters and no other byte")
    func channelCharacters() {
        let a = UInt8(ascii: "a")
        let accepted = bytes { refusal(NameRule.channel, [a, $0]) == nil }
        #expect(accepted == Self.channel)
        #expect(
            bytes { refusal(NameRule.channel, [a, $0]) == .invalidChannelName }
                == Self.every.subtracting(accepted))
    }

    @Test("L-10: a custom type consists of printable ASCII and no other byte")
    func customTypeCharacters() {
        let accepted = bytes { refusal(NameRule.customType, [$0]) == nil }
        #expect(accepted == Set(0x20...0x7E))
        #expect(
            bytes { refusal(NameRule.customType, [$0]) == .channelInvalidCustomType }
                == Self.every.subtracting(accepted))
    }

    @Test("L-11, L-12, L-13: metadata keys and lock names consist of printable ASCII and no other byte")
    func storageCharacters() {
        let rules: [(NameRule, ErrorCode)] = [
            (.metadataKey, .storageInvalidKey), (.lock, .lockInvalidName),
            (.lockOfWrite, .storageInvalidLockName),
        ]
        for (rule, code) in rules {
            let accepted = bytes { refusal(rule, [$0]) == nil }
            #expect(accepted == Set(0x20...0x7E))
            #expect(bytes { refusal(rule, [$0]) == code } == Self.every.subtracting(accepted))
            #expect(refusal(rule, "") == code)
        }
    }

    @Test("L-4: a channel name doesn't begin with an underscore, but may contain one")
    func leadingUnderscore() {
        #expect(refusal(NameRule.channel, "_lobby") == .invalidChannelName)
        #expect(refusal(NameRule.channel, "_") == .invalidChannelName)
        #expect(refusal(NameRule.channel, "lobby_") == nil)
        #expect(refusal(NameRule.user, "_ann") == nil)
    }

    @Test("L-4, L-5: a forbidden character is refused wherever it stands")
    func forbiddenInChannelNames() {
        for character in [".", "*", "/", "\\", "\0", "\"", "'", "\n", "é"] {
            for name in [character + "lobby", "lob" + character + "by", "lobby" + character] {
                #expect(refusal(NameRule.channel, name) == .invalidChannelName)
            }
        }
    }

    // MARK: Lengths

    @Test("L-1, L-4, L-10, L-11, L-13: the longest name is accepted, one byte more is refused")
    func longest() {
        let lengths: [(NameRule, Int, ErrorCode)] = [
            (.user, 64, .invalidUserId), (.channel, 64, .invalidChannelName),
            (.customType, 32, .channelCustomTypeLengthOverflow),
            (.metadataKey, 32, .storageKeyLengthOverflow), (.lock, 64, .lockInvalidName),
            (.lockOfWrite, 64, .storageInvalidLockName),
        ]
        for (rule, bytesMax, code) in lengths {
            #expect(refusal(rule, String(repeating: "x", count: bytesMax)) == nil)
            #expect(refusal(rule, String(repeating: "x", count: bytesMax + 1)) == code)
        }
    }

    @Test("L-10: length is checked before characters, so a long custom type is -11029 whatever it holds")
    func lengthBeforeCharacters() {
        #expect(
            refusal(NameRule.customType, String(repeating: "\u{1}", count: 33))
                == .channelCustomTypeLengthOverflow)
    }

    @Test("L-1, L-4: names are not empty; L-10: a custom type may be")
    func empty() {
        #expect(refusal(NameRule.user, "") == .invalidUserId)
        #expect(refusal(NameRule.channel, "") == .invalidChannelName)
        #expect(refusal(NameRule.customType, "") == nil)
    }

    // MARK: What a refusal says

    @Test("S-0a: a refusal by length names the limit and its value")
    func refusalNamesTheLimit() throws {
        let error = try #require(throws: RTMError.self) {
            try NameRule.user.check(Array(repeating: UInt8(ascii: "x"), count: 70))
        }
        #expect(error.limit == RTMError.Limit(name: "user id bytes", value: 64))
        #expect(error.reason == "the user id has 70 bytes, 64 are allowed")
    }

    @Test("S-0a: a refusal by character says which one at which place")
    func refusalNamesTheCharacter() throws {
        let visible = try #require(throws: RTMError.self) { try NameRule.channel.check("room.1".utf8) }
        let allowed = "it consists of a to z, A to Z, 0 to 9, space and !#$%&()+,-:;<=>?@[]^_{|}~`"
        #expect(visible.reason == "the channel name has '.' at place 5, which is not allowed: \(allowed)")
        let invisible = try #require(throws: RTMError.self) { try NameRule.channel.check("a\n".utf8) }
        #expect(invisible.reason.hasPrefix("the channel name has byte 10 at place 2, which is not allowed: "))
    }

    @Test(
        "S-0a: a character that isn't ASCII is shown as it was written, if it can be seen",
        arguments: [
            ("Grüße", "'ü' at place 3"), ("日本", "'日' at place 1"), ("ok👍", "'👍' at place 3"),
            ("a\u{308}", "the character U+308 at place 2"), ("a\u{200B}", "the character U+200B at place 2"),
        ])
    func refusalShowsTheCharacter(name: String, place: String) throws {
        for rule in [NameRule.channel, .user, .customType, .lock, .metadataKey] {
            let error = try #require(throws: RTMError.self) { try rule.check(name.utf8) }
            #expect(error.reason.contains(" has \(place), which is not allowed: it consists of "))
        }
    }

    @Test("S-0a: bytes that are no character are shown as bytes")
    func refusalShowsBytes() throws {
        let error = try #require(throws: RTMError.self) { try NameRule.channel.check([0x61, 0xC3]) }
        #expect(error.reason.hasPrefix("the channel name has byte 195 at place 2, "))
    }

    // MARK: -

    private func bytes(where condition: (UInt8) -> Bool) -> Set<UInt8> {
        Self.every.filter(condition)
    }

    /// The code with which the rule refuses the name, or nil when it accepts the name.
    private func refusal(_ rule: NameRule, _ bytes: some Collection<UInt8>) -> ErrorCode? {
        do throws(RTMError) {
            try rule.check(bytes)
            return nil
        } catch {
            return error.code
        }
    }

    private func refusal(_ rule: NameRule, _ name: String) -> ErrorCode? {
        refusal(rule, name.utf8)
    }
}
