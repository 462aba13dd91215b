import RTMAccessToken
import RTMModel
import RTMServiceKit
import RTMWire

/// The tokens by which a session has joined stream channels: which clients to warn of their end, what ends
/// with them (C-2, S-50), and whether they allow to publish there. Pure: the time is a parameter.
struct JoinTokens {
    private var clocks: [String: TokenClock] = [:]
    private var grants: [String: JoinGrant] = [:]

    var isEmpty: Bool { clocks.isEmpty }

    enum Event: Equatable {
        /// The client has to be warned how much time is left. This comes once for each token.
        case willExpire(channel: String, in: Duration)
        case expired(channel: String)
    }

    /// The channel is joined with this token, or its token was renewed.
    mutating func accepted(_ channel: String, _ grant: JoinGrant) {
        let end = grant.expiresAtMilliseconds
        grants[channel] = grant
        if clocks[channel] == nil { clocks[channel] = TokenClock(expiresAt: end) }
        clocks[channel]?.renewed(expiresAt: end)
    }

    mutating func left(_ channel: String) { (clocks[channel], grants[channel]) = (nil, nil) }

    /// - Parameter now: UTC, in milliseconds since 1970.
    func allowPublishing(in channel: String, now: UInt64) -> Bool {
        grants[channel]?.allowsPublishing(now: now) ?? false
    }

    /// - Parameter now: UTC, in milliseconds since 1970.
    /// - Returns: what is due, by the names of the channels, and how long nothing is due after that.
    mutating func check(now: UInt64) -> (events: [Event], next: Duration?) {
        var events: [Event] = []
        var next: Duration?
        for channel in clocks.keys.sorted() {
            var verdict = clocks[channel]?.check(now: now)
            if case .willExpire(let remaining) = verdict {
                events.append(.willExpire(channel: channel, in: remaining))
                verdict = clocks[channel]?.check(now: now)
            }
            switch verdict {
            case .expired:
                events.append(.expired(channel: channel))
                left(channel)
            case .valid(let rest), .willExpire(let rest): next = min(next ?? rest, rest)
            case nil: break
            }
        }
        return (events, next)
    }
}

/// Who may join a stream channel (C-2).
extension Application {
    /// - Parameters:
    /// - credential: a token for the channel and the user. An app that needs no tokens takes the app id, or
    ///   nothing.
    /// - nowMilliseconds: UTC, since 1970.
    /// - Returns: what the token gives; nil where there is no token.
    func checkJoin(
        _ channel: String, _ credential: String, userID: String, nowMilliseconds: UInt64
    ) throws(RTMError) -> JoinGrant? {
        guard service == .all else {
            throw RTMError(.channelNotAvailable, "stream channels are switched off for app \"\(id)\"")
        }
        guard let tokens else {
            try checkOpen(credential)
            return nil
        }
        return try tokens.verifyJoin(
            credential, channel: channel, userID: userID, nowMilliseconds: nowMilliseconds)
    }
}
