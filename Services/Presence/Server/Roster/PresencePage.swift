import RTMModel
import RTMWire

/// Answers of bounded size: pages of whoNow (P-31 to P-35) and the frames of a snapshot.
enum PresencePage {
    /// A page of whoNow holds at most 100 users (L-33).
    static let usersMax = 100
    /// Limit: bytes of users in one frame, except when a single user's states are larger. A full page with
    /// full states would be 3 MiB.
    static let bytesMax = 64 * 1024

    /// How many of the users, from `start` on, fit into one frame; at least one.
    static func count(of users: [UserState], from start: Int) -> Int {
        var bytes = 0
        for index in start..<users.count {
            bytes += users[index].encodedLength + 4
            if bytes > bytesMax { return max(1, index - start) }
        }
        return users.count - start
    }

    // MARK: - The bookmark

    /// Where the next page begins: behind this user. The bookmark is opaque to clients and consists of
    /// letters and digits only.
    static func bookmark(after user: String) -> String {
        "1" + user.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The user of a bookmark, or nil for the first page.
    static func user(of bookmark: WireText) throws(RTMError) -> String? {
        guard !bookmark.isEmpty else { return nil }
        let digits = bookmark.bytes.dropFirst()
        guard bookmark.bytes[0] == UInt8(ascii: "1"), digits.count % 2 == 0, !digits.isEmpty,
            digits.count <= 2 * Limits.userIDBytesMax
        else { throw unknown }
        var user: [UInt8] = []
        for place in stride(from: digits.startIndex, to: digits.endIndex, by: 2) {
            guard let high = Character(UnicodeScalar(digits[place])).hexDigitValue,
                let low = Character(UnicodeScalar(digits[place + 1])).hexDigitValue
            else { throw unknown }
            user.append(UInt8(high * 16 + low))
        }
        guard (try? NameRule.user.check(user)) != nil else { throw unknown }
        return String(decoding: user, as: UTF8.self)
    }

    private static var unknown: RTMError {
        RTMError(.presenceInvalidArgument, "the page is not a bookmark of an earlier answer")
    }
}
