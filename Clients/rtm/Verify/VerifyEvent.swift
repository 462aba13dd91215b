/// Something that one of the clients of `rtm verify` did or saw.
enum VerifyEvent: Sendable, Hashable {
    /// How a call ended, as its caller knows.
    enum Outcome: String, Sendable, Hashable {
        case done
        /// It had no effect.
        case refused
        /// Nobody knows whether it had an effect.
        case unknown
    }

    case published(client: Int, channel: Int, message: Int, Outcome)
    case received(client: Int, channel: Int, message: Int, offset: UInt64)
    /// Messages of the channel are lost for the client, and a gap was reported to it.
    case gap(client: Int, channel: Int)
    /// The counter was written if its revision was still the one that was read.
    case compared(client: Int, revision: Int64, Outcome)
    /// The counter at the end.
    case counted(Int)
    case acquired(client: Int, fencingToken: UInt64)
    /// Written down before the lock is released, so whoever acquires it later comes later.
    case released(client: Int, fencingToken: UInt64)
    /// A user has entered or left the channel of presence; nil if nobody learned of it in time.
    case announced(isEntry: Bool, after: Duration?)
}

extension VerifyEvent {
    /// One line of the history.
    ///
    /// - Parameter time: since the beginning of the run.
    func json(at time: Duration) -> JSON {
        let fields: [(String, JSON)] =
            switch self {
            case .published(let client, let channel, let message, let outcome):
                [
                    ("event", "published"), ("client", .number(client)), ("channel", .number(channel)),
                    ("message", .number(message)), ("outcome", .string(outcome.rawValue)),
                ]
            case .received(let client, let channel, let message, let offset):
                [
                    ("event", "received"), ("client", .number(client)), ("channel", .number(channel)),
                    ("message", .number(message)), ("offset", .number(offset)),
                ]
            case .gap(let client, let channel):
                [("event", "gap"), ("client", .number(client)), ("channel", .number(channel))]
            case .compared(let client, let revision, let outcome):
                [
                    ("event", "compared"), ("client", .number(client)), ("revision", .number(revision)),
                    ("outcome", .string(outcome.rawValue)),
                ]
            case .counted(let value): [("event", "counted"), ("value", .number(value))]
            case .acquired(let client, let token):
                [("event", "acquired"), ("client", .number(client)), ("fencingToken", .number(token))]
            case .released(let client, let token):
                [("event", "released"), ("client", .number(client)), ("fencingToken", .number(token))]
            case .announced(let isEntry, let time):
                [
                    ("event", "announced"), ("entry", isEntry ? true : false),
                    ("afterMs", time.map { .number($0 / .milliseconds(1), decimals: 1) } ?? .null),
                ]
            }
        let stamp = JSON.Field(name: "ms", value: .number(time / .milliseconds(1), decimals: 1))
        return .object([stamp] + fields.map { JSON.Field(name: $0.0, value: $0.1) })
    }
}
