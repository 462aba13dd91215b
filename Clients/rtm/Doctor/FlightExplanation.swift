import RTMClient

/// What a record of a client says, in sentences. Pure.
struct FlightExplanation {
    /// A call that took longer is named, in milliseconds.
    private static let slow = 2_000
    /// Without a frame for longer than this before a loss the network was silent, in milliseconds.
    private static let silence: UInt64 = 3_000

    private let record: FlightRecord
    private(set) var findings: [String] = []

    init(_ record: FlightRecord) {
        self.record = record
        explainLink()
        explainRefusals()
        explainSlowCalls()
        explainGaps()
        if findings.isEmpty { findings.append("Nothing unusual.") }
    }

    /// What the record is about.
    var heading: String {
        let entries = record.entries
        guard let first = entries.first?.at, let last = entries.map(\.until).max() else {
            return "The record of \(record.userID) is empty: nothing has happened, or nothing is recorded."
        }
        let servers = record.servers.joined(separator: ", ")
        return "\(record.userID) at \(servers), from \(WallTime(first)) to \(WallTime(last)) UTC: "
            + "\(entries.count) entries."
    }

    var lines: [String] { [heading] + findings }

    // MARK: The link

    private mutating func explainLink() {
        var lost: FlightRecord.Entry?
        for (index, entry) in record.entries.enumerated() where entry.kind == .link {
            switch entry.name {
            case "connected":
                if let since = lost {
                    findings.append(
                        "\(WallTime(entry.at)) The client was back after \(span(since.at, entry.at)).")
                }
                lost = nil
            case "disconnected":
                guard lost == nil else { continue }
                lost = entry
                findings.append(
                    "\(WallTime(entry.at)) The link was lost: \(entry.reason).\(quiet(before: index))")
            case "suspended":
                findings.append(
                    "\(WallTime(entry.at)) The link has been down for two minutes: \(entry.reason).")
            case "failed":
                lost = nil
                findings.append(
                    "\(WallTime(entry.at)) The link failed for good: \(entry.reason) (reason \(entry.code))."
                        + advice(reason: entry.code))
            default: break
            }
        }
        if let lost, let end = record.entries.map(\.until).max() {
            findings.append("The client was still away \(span(lost.at, max(end, record.exportedAt))) later.")
        }
    }

    private func quiet(before index: Int) -> String {
        let loss = record.entries[index].at
        let received = record.entries[..<index].filter { $0.kind == .received }.map(\.until).max()
        guard let received, loss > received + Self.silence else { return "" }
        return " Nothing had come from the server for \(span(received, loss)): the network was away, "
            + "or the server."
    }

    private func advice(reason: Int) -> String {
        switch LinkStateReason(rawValue: reason) {
        case .invalidToken: " Look at the token with rtm token explain."
        case .tokenExpired: " Give the client a tokenProvider, or call renewToken in time."
        case .sameUidLogin: " The same user logged in elsewhere: each device needs a user id of its own."
        case .loginNotAuthorized: " Look at the app id and at what the token permits."
        case .loginRejected: " The server doesn't let this user in: it may be banned."
        default: ""
        }
    }

    // MARK: Calls

    private mutating func explainRefusals() {
        var refused: [Int: [FlightRecord.Entry]] = [:]
        for entry in record.entries where entry.kind == .calls && entry.code != 0 {
            refused[entry.code, default: []].append(entry)
        }
        for (code, entries) in refused.sorted(by: { $0.key > $1.key }) {
            guard let first = entries.first else { continue }
            let count = entries.reduce(0) { $0 + $1.count }
            let names = Set(entries.map(\.name)).sorted().joined(separator: ", ")
            findings.append(
                "\(count) of \(names) failed with \(code), first at \(WallTime(first.at)): \(first.reason)."
                    + advice(error: code))
        }
    }

    private func advice(error: Int) -> String {
        switch ErrorCode(rawValue: error) {
        case .channelPublishMessageTooFrequent, .operationRateExceedLimitation:
            " The app calls faster than the server allows; retryAfter of the error says when to call again."
        case .channelPublishMessageFailed, .channelPublishMessageTimeout:
            " Whether these messages were published is unknown, unless the error has a retryAfter."
        case .notConnected, .channelNotConnected, .presenceNotConnected:
            " There was no connection at that moment; the changes of the link say why."
        case .notLogin: " The app called before a login, or after the session had ended."
        case .invalidToken, .tokenExpired: " Look at the token with rtm token explain."
        case .channelReceiverOffline: " Messages to users need a user who is online."
        default: ""
        }
    }

    private mutating func explainSlowCalls() {
        let slow = record.entries.filter { $0.kind == .calls && $0.code == 0 && $0.longest >= Self.slow }
        for entry in slow.sorted(by: { $0.longest > $1.longest }).prefix(3) {
            findings.append(
                "\(WallTime(entry.at)) A \(entry.name) took \(span(0, UInt64(entry.longest))), and succeeded."
            )
        }
    }

    private mutating func explainGaps() {
        for entry in record.entries where entry.kind == .gap {
            findings.append(
                "\(WallTime(entry.at)) The server reported a gap in a channel (\(entry.name)): "
                    + "the client was away for longer than its log reaches back, or the log began anew.")
        }
    }

    private func span(_ from: UInt64, _ to: UInt64) -> String {
        let milliseconds = to - min(from, to)
        guard milliseconds >= 1_000 else { return "\(milliseconds) ms" }
        let (seconds, tenths) = (milliseconds / 1_000, milliseconds % 1_000 / 100)
        return seconds < 60 ? "\(seconds).\(tenths) s" : "\(seconds / 60) min \(seconds % 60) s"
    }
}

/// The time of day, in UTC.
struct WallTime: CustomStringConvertible {
    let description: String

    init(_ milliseconds: UInt64) {
        let seconds = milliseconds / 1_000
        let parts = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60]
            .map { $0 < 10 ? "0\($0)" : "\($0)" }
        let fraction = String(1_000 + milliseconds % 1_000).dropFirst()
        description = parts.joined(separator: ":") + "." + fraction
    }
}
