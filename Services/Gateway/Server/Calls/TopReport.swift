import RTMModel
import RTMWire

/// What is largest and busiest in an app, put together from what each event loop of each edge has found
/// (W-79). Pure.
struct TopReport: Encodable, Sendable {
    struct Channel: Encodable, Sendable {
        let channel: String
        let type: String
        /// On the event loops where the channel is among the busiest.
        let subscribers: Int
        let entriesPerSecond: Double
        let deliveriesPerSecond: Double
    }

    struct Publisher: Encodable, Sendable {
        let user: String
        /// A number of 64 bits, as a text.
        let session: String
        let address: String
        let client: String
        let messagesPerSecond: Double
        /// Of payloads.
        let bytesPerSecond: Double
    }

    struct Refused: Encodable, Sendable {
        let user: String
        /// publish or subscribe.
        let request: String
        let count: UInt64
        /// Of the last of them, in milliseconds since 1970.
        let last: UInt64
        let reason: String
        /// Absent if it isn't known.
        var channel: String?
        var channelType: String?
    }

    /// For how long channels and publishers were watched, in milliseconds.
    let measured: Int
    let queues: [ListRoutes.Connection]
    let channels: [Channel]
    let publishers: [Publisher]
    let refused: [Refused]
    /// No refusal that came since then is missing, in milliseconds since 1970; absent without edges.
    var refusedSince: UInt64?
    /// How often a quiet channel was left out, because an event loop had too many.
    let channelsOmitted: Int

    /// - Parameters:
    ///   - findings: of each event loop that has measured.
    ///   - limit: rows of each list.
    init(_ findings: [EdgeTopFindings], limit: Int) {
        measured = findings.map { Int($0.measured.milliseconds) }.max() ?? 0
        queues = findings.flatMap(\.queues).most(limit) { Double($0.queuedBytes) }
            .map(ListRoutes.Connection.init)
        publishers = findings.flatMap { found in
            found.publishers.map { Publisher($0, during: found.measured) }
        }.most(limit, \.messagesPerSecond)
        channels = Self.busiest(findings, limit)
        refused = Self.mostRefused(findings, limit)
        refusedSince = findings.map(\.refusedSinceMilliseconds).max()
        channelsOmitted = findings.map { Int($0.channelsOmitted) }.reduce(0, +)
    }

    /// A channel with subscribers on several loops gets the same entries on each of them.
    private static func busiest(_ findings: [EdgeTopFindings], _ limit: Int) -> [Channel] {
        struct Traffic {
            var entries = 0.0
            var subscribers = 0
            var deliveries = 0.0
        }
        var traffic: [ChannelKey: Traffic] = [:]
        for found in findings {
            for busy in found.channels {
                let entries = Double(busy.entries).each(found.measured)
                var sum = traffic[busy.channel] ?? Traffic()
                sum.entries = max(sum.entries, entries)
                sum.subscribers += Int(busy.subscribers)
                sum.deliveries += entries * Double(busy.subscribers)
                traffic[busy.channel] = sum
            }
        }
        return traffic.map { key, sum in
            Channel(
                channel: key.name, type: key.type.word, subscribers: sum.subscribers,
                entriesPerSecond: sum.entries.short, deliveriesPerSecond: sum.deliveries.short)
        }.most(limit, \.deliveriesPerSecond)
    }

    private static func mostRefused(_ findings: [EdgeTopFindings], _ limit: Int) -> [Refused] {
        struct Cause: Hashable {
            let userID: String
            let kind: SessionFactKind?
        }
        var users: [Cause: RefusedUser] = [:]
        for refused in findings.flatMap(\.refused) {
            let cause = Cause(userID: refused.userID, kind: refused.kind)
            let known = users[cause]
            var newest = known.map { $0.atMilliseconds > refused.atMilliseconds ? $0 : refused } ?? refused
            newest.count = refused.count + (known?.count ?? 0)
            users[cause] = newest
        }
        return users.values.most(limit) { Double($0.count) }.map(Refused.init)
    }
}

extension TopReport.Publisher {
    fileprivate init(_ loud: LoudSession, during time: Duration) {
        let session = loud.session
        self.init(
            user: session.userID, session: "\(session.sessionID)", address: session.address,
            client: session.client, messagesPerSecond: Double(loud.messages).each(time).short,
            bytesPerSecond: Double(loud.bytes).each(time).short)
    }
}

extension TopReport.Refused {
    fileprivate init(_ refused: RefusedUser) {
        self.init(
            user: refused.userID, request: refused.kind == .subscribeRefused ? "subscribe" : "publish",
            count: refused.count, last: refused.atMilliseconds, reason: refused.reason,
            channel: refused.channel?.name, channelType: refused.channel?.type.word)
    }
}

extension Collection {
    /// The first ones in descending order.
    fileprivate func most(_ limit: Int, _ value: (Element) -> Double) -> [Element] {
        Array(sorted { value($0) > value($1) }.prefix(limit))
    }
}

extension Double {
    /// What came during the time, in each second.
    fileprivate func each(_ time: Duration) -> Double { self / max(0.001, time / .seconds(1)) }

    /// With one digit behind the point.
    fileprivate var short: Double { (self * 10).rounded() / 10 }
}

extension ChannelType {
    /// What the channel is, also where a user is followed.
    fileprivate var word: String { self == .none ? "metadata" : "\(self)" }
}
