import RTMModel

/// The questions about time that tokens of both kinds answer in the same way. All times are milliseconds
/// since 1970 (UTC).
package struct TokenTimes {
    let now: UInt64
    /// Names the clock in the sentences of refusals.
    let clock: String
    /// How long a token lives at most, counted from its issue (L-50). Zero means that there is no limit.
    let lifeMax: Duration

    /// Limit: how far the clock of a token's issuer may be ahead of this one, in seconds.
    package static let aheadSecondsMax: UInt64 = 300

    /// - Parameter what: how the sentence begins: "the token is issued".
    func checkBegin(_ begin: UInt64, _ what: String) throws(RTMError) {
        guard begin <= now + Self.aheadSecondsMax * 1000 else {
            throw RTMError(
                .invalidToken,
                "\(what) \(Duration.milliseconds(begin - now).inWords) in the future by \(clock), "
                    + "\(Self.aheadSecondsMax) s are allowed")
        }
    }

    func checkExpiry(_ end: UInt64, of what: String) throws(RTMError) {
        guard isPast(end) else { return }
        throw RTMError(
            .tokenExpired, "\(what) expired \(Duration.milliseconds(now - end).inWords) ago by \(clock)")
    }

    func checkLife(issuedAt: UInt64) throws(RTMError) {
        guard let end = endOfLife(issuedAt: issuedAt), isPast(end) else { return }
        let age = Duration.milliseconds(now - issuedAt)
        throw RTMError(
            .tokenExpired,
            "the token was issued \(age.inWords) ago by \(clock), and this server lets tokens live for "
                + lifeMax.inWords,
            limit: .init(name: "seconds of a token's life", value: UInt64(lifeMax.components.seconds)))
    }

    static func ofThisMachine(_ now: UInt64) -> TokenTimes {
        TokenTimes(now: now, clock: "the clock of this machine", lifeMax: .zero)
    }

    /// When the operator's limit ends the token; nil if there is no limit.
    func endOfLife(issuedAt: UInt64) -> UInt64? {
        lifeMax > .zero ? issuedAt + UInt64(lifeMax.components.seconds) * 1000 : nil
    }

    /// Whether that instant has come. The instant at which something ends is no longer part of it.
    func isPast(_ end: UInt64) -> Bool { now >= end }
}

extension Duration {
    /// The duration as precise as a person needs it: `37 s`, `12 min`, `5 h`, `9 days`.
    package var inWords: String {
        let seconds = components.seconds
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}

extension String {
    /// Compares byte by byte. `==` takes the Kelvin sign for a K, and so one user for another.
    func isSpelled(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// The text for a sentence: bounded, and without characters that would break the line.
    var quoted: String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(64))).debugDescription
    }
}
