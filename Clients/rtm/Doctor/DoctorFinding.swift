import Foundation
import RTMAccessToken
import RTMClient

/// What a check of `rtm doctor` has found. Pure: the answers of servers and the time are parameters.
struct DoctorFinding: Sendable, Hashable {
    enum Verdict: String, Sendable {
        case ok
        /// It works, and may not be what is meant.
        case note
        case wrong
        /// An earlier check has failed.
        case unchecked = "-"
    }

    /// What was checked.
    let subject: String
    let verdict: Verdict
    /// What was found, and what to do if it is wrong.
    let text: String

    /// One line for a person.
    var line: String {
        func column(_ text: String, _ width: Int) -> String {
            text.padding(toLength: width, withPad: " ", startingAt: 0)
        }
        return (column(verdict.rawValue, 7) + column(subject, 8) + text).visible
    }

    var json: JSON {
        ["check": .string(subject), "verdict": .string("\(verdict)"), "text": .string(text)]
    }
}

extension DoctorFinding {
    private static let notAnswered = "not checked, because no server has answered"

    /// Whether somebody answers at the address, and whether the connection is encrypted.
    static func server(_ server: ServerAddress, isEncrypted: Bool, _ outcome: ProbeOutcome) -> [Self] {
        switch outcome {
        case .answered(let reply):
            let time = reply.roundTrip.milliseconds.text(decimals: 1)
            return [
                Self(
                    subject: "server", verdict: .ok,
                    text:
                        "\(server) answers in \(time) ms (\(reply.server), protocol \(reply.protocolVersion))"
                ),
                tls(of: server, isEncrypted: isEncrypted),
            ]
        case .failed(let error, let failure):
            let text = error.reason + (failure?.hint ?? "")
            // Somebody is there, so the address is right.
            if failure?.isAboutTLS == true {
                return [
                    Self(subject: "server", verdict: .ok, text: "somebody listens at \(server)"),
                    Self(subject: "TLS", verdict: .wrong, text: text),
                ]
            }
            return [
                Self(subject: "server", verdict: .wrong, text: text.naming(server)),
                Self(subject: "TLS", verdict: .unchecked, text: notAnswered),
            ]
        }
    }

    private static func tls(of server: ServerAddress, isEncrypted: Bool) -> Self {
        if isEncrypted {
            return Self(
                subject: "TLS", verdict: .ok, text: "the connection is encrypted, and the certificate trusted"
            )
        }
        return server.isLoopback
            ? Self(subject: "TLS", verdict: .ok, text: "not needed on this machine")
            : Self(
                subject: "TLS", verdict: .note,
                text: "the connection is in the clear: everybody on the way can read along; --tls encrypts it"
            )
    }

    /// How far this machine's clock may be from the server's.
    static let clockTolerance: Duration = .seconds(10)

    /// - Parameter clock: nil if no server has answered.
    static func clock(_ clock: ServerClock?) -> Self {
        guard let clock else {
            return Self(subject: "clock", verdict: .unchecked, text: notAnswered)
        }
        let distance = Duration.milliseconds(abs(clock.aheadMilliseconds))
        guard distance > clockTolerance else {
            return Self(
                subject: "clock", verdict: .ok,
                text: "this machine and the server differ by \(abs(clock.aheadMilliseconds)) ms")
        }
        return Self(
            subject: "clock", verdict: .wrong,
            text: "this machine's clock is \(distance.inWords) "
                + (clock.aheadMilliseconds > 0 ? "behind" : "ahead of") + " the server's, so tokens end "
                + "at another time than their maker means; have NTP set the clocks of both")
    }

    /// - Parameter nowMilliseconds: the server's time where it is known.
    static func token(_ text: String, _ settings: ConnectionSettings, nowMilliseconds: UInt64) -> Self {
        let signed: SignedToken
        do { signed = try SignedToken(text) } catch {
            return Self(
                subject: "token", verdict: .wrong, text: "\(error.reason); `rtm token create` makes one")
        }
        let explanation = TokenExplanation(
            signed, appID: settings.appID, certificate: nil, userID: settings.userID,
            nowMilliseconds: nowMilliseconds)
        if let refusal = explanation.refusal {
            return Self(
                subject: "token", verdict: .wrong,
                text: "\(refusal.reason); `rtm token explain` shows it whole, `rtm token create` makes one")
        }
        let left = Duration.milliseconds(signed.token.expiresAt * 1000 - nowMilliseconds)
        return Self(
            subject: "token", verdict: .ok,
            text: "for user \(settings.userID) of app \(settings.appID), valid for another \(left.inWords); "
                + "its signature is known to the server alone")
    }

    /// - Parameters:
    ///   - isRefused: why a guest without a token isn't let in.
    ///   - isLetIn: whether a guest is.
    static func noToken(isRefused refusal: RTMError?, isLetIn: Bool = false) -> Self {
        if let refusal {
            return Self(
                subject: "token", verdict: .wrong,
                text: "none, and a guest can't log in: \(refusal.reason)"
                    + (refusal.code == .invalidToken ? "; `rtm token create` makes one" : ""))
        }
        return isLetIn
            ? Self(subject: "token", verdict: .ok, text: "none, and the app needs none")
            : Self(subject: "token", verdict: .unchecked, text: "none; \(notAnswered)")
    }
}

extension String {
    /// Most reasons begin with the address anyway.
    fileprivate func naming(_ server: ServerAddress) -> String {
        hasPrefix("\(server)") ? self : "\(server): \(self)"
    }
}

extension ConnectionFailure {
    /// Whether a connection was opened, and ended because only one side speaks TLS or the certificate isn't
    /// right.
    fileprivate var isAboutTLS: Bool {
        switch self {
        case .tls, .certificateUntrusted, .certificateOfOtherHost, .serverWithTLS, .serverWithoutTLS: true
        default: false
        }
    }
}

/// The server's clock beside the one of this machine.
struct ServerClock: Sendable, Hashable {
    /// How far the server's is ahead; negative if it is behind.
    let aheadMilliseconds: Int64

    /// - Parameter nowMilliseconds: when the answer came, by this machine.
    init(_ reply: PingReply, nowMilliseconds: UInt64) {
        let way = Int64(reply.roundTrip / .milliseconds(2))
        // A server may say anything; what is far beyond all clocks is as good as what it said.
        let server = Int64(min(reply.serverTimeMilliseconds, 1 << 60))
        aheadMilliseconds = server + way - Int64(nowMilliseconds)
    }

    /// The server's time at an instant of this machine.
    func time(of milliseconds: UInt64) -> UInt64 {
        UInt64(clamping: Int64(milliseconds) + aheadMilliseconds)
    }
}
