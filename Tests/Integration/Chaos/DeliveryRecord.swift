import Foundation

/// What was published and what arrived, gathered from outside while a system is under stress, and whether the
/// two agree with the promise: every subscriber receives the log, in its order, nothing twice, with a gap
/// only where it was informed of one.
///
/// The log itself can't be seen from outside. It is put together from the acknowledgements and from
/// everything that any client received, by their timestamps and orders, which increase strictly within a
/// channel.
struct DeliveryRecord {
    enum Outcome: Equatable {
        /// - Parameter timestamp: nil where the API doesn't report it.
        case acknowledged(timestamp: UInt64?)
        /// The message may be in the log or not.
        case unknown
        /// The message was refused before it left.
        case refused
    }

    struct Published {
        var text: String
        var publisher: String
        var channel: String
        var outcome: Outcome
    }

    enum Sighting: Equatable {
        /// - Parameter order: nil where the API doesn't report it.
        case message(text: String, publisher: String, timestamp: UInt64, order: UInt32? = nil)
        /// The client was told that messages were lost here.
        case gap
    }

    /// One client's view of one channel.
    struct View {
        var viewer: String
        var channel: String
        /// A client that isn't told of gaps (AgoraRtmKit) may have one only around the end of an epoch.
        var isInformedOfGaps = true
        var sightings: [Sighting] = []
    }

    /// When logs ended and began anew, in milliseconds since 1970. Only there may messages be lost.
    var epochEnds: [UInt64] = []
    var published: [Published] = []
    var views: [View] = []

    /// One sentence for each breach; none if all is well.
    func breaches() -> [String] { withPlaces().judged() }

    /// The same with one number in the place of each timestamp and its order. Who doesn't know the order
    /// gets that of those who do.
    private func withPlaces() -> DeliveryRecord {
        func place(_ timestamp: UInt64, _ order: UInt32) -> UInt64 { timestamp * 1_000 + UInt64(order) }
        var known: [String: UInt64] = [:]
        for view in views {
            for case .message(let text, _, let timestamp, let order?) in view.sightings {
                known["\(view.channel) \(text)"] = place(timestamp, order)
            }
        }
        func place(of text: String, in channel: String, at timestamp: UInt64) -> UInt64 {
            let exact = known["\(channel) \(text)"] ?? 0
            return exact / 1_000 == timestamp ? exact : place(timestamp, 0)
        }
        var record = self
        record.epochEnds = epochEnds.map { place($0, 0) }
        record.published = published.map { message in
            var message = message
            if case .acknowledged(let timestamp?) = message.outcome {
                let place = place(of: message.text, in: message.channel, at: timestamp)
                message.outcome = .acknowledged(timestamp: place)
            }
            return message
        }
        record.views = views.map { view in
            var placed = view
            placed.sightings = view.sightings.map { sighting in
                guard case .message(let text, let publisher, let timestamp, let order) = sighting else {
                    return sighting
                }
                let at =
                    order.map { place(timestamp, $0) } ?? place(of: text, in: view.channel, at: timestamp)
                return .message(text: text, publisher: publisher, timestamp: at)
            }
            return placed
        }
        return record
    }

    private func judged() -> [String] {
        let (logs, ambiguities) = logs()
        let sources = Dictionary(published.map { ($0.text, $0) }) { first, _ in first }
        var breaches = ambiguities + refusedButSeen(logs)
        for view in views {
            let log = logs[view.channel] ?? [:]
            let gaps =
                view.isInformedOfGaps ? Self.gaps(of: view) : jumps(of: view)
            breaches += disorder(in: view, sources) + holes(in: view, log: log, gaps: gaps)
            breaches += unheard(by: view, log: log, mayHaveLost: !gaps.isEmpty)
        }
        return breaches
    }

    var acknowledged: Int {
        published.count { if case .acknowledged = $0.outcome { true } else { false } }
    }

    var received: Int { views.reduce(0) { $0 + $1.sightings.count { $0 != .gap } } }

    var gaps: Int { views.reduce(0) { $0 + $1.sightings.count { $0 == .gap } } }

    /// A gap is reported where an epoch began, and nowhere else: what the log still has is always replayed.
    func needlessGaps() -> [String] {
        views.filter { $0.sightings.count { $0 == .gap } > epochEnds.count }
            .map { "\($0.viewer) was told of more gaps in \($0.channel) than there were" }
    }

    private func logs() -> (logs: [String: [UInt64: String]], ambiguities: [String]) {
        var logs: [String: [UInt64: String]] = [:]
        var places: [String: Set<UInt64>] = [:]
        var breaches: [String] = []
        func enter(_ text: String, _ channel: String, at timestamp: UInt64, reportedBy who: String) {
            if let other = logs[channel]?[timestamp], other != text {
                breaches.append("\(who): \(channel) has '\(text)' where others have '\(other)'")
            }
            for place in places["\(channel) \(text)"] ?? [] where place != timestamp {
                breaches.append("\(who): '\(text)' is in \(channel) twice, at \(place) and \(timestamp)")
            }
            logs[channel, default: [:]][timestamp] = text
            places["\(channel) \(text)", default: []].insert(timestamp)
        }
        for message in published {
            if case .acknowledged(let timestamp?) = message.outcome {
                enter(message.text, message.channel, at: timestamp, reportedBy: "the receipt")
            }
        }
        for view in views {
            for case .message(let text, _, let timestamp, _) in view.sightings {
                enter(text, view.channel, at: timestamp, reportedBy: view.viewer)
            }
        }
        return (logs, breaches)
    }

    private func refusedButSeen(_ logs: [String: [UInt64: String]]) -> [String] {
        let texts = logs.mapValues { Set($0.values) }
        return published.filter { $0.outcome == .refused && texts[$0.channel]?.contains($0.text) == true }
            .map { "'\($0.text)' was refused, and is in \($0.channel) nevertheless" }
    }

    /// Checks the order, repetitions, and messages that a client must not get.
    private func disorder(in view: View, _ sources: [String: Published]) -> [String] {
        var breaches: [String] = []
        var last: UInt64 = 0
        var seen: Set<String> = []
        for case .message(let text, let publisher, let timestamp, _) in view.sightings {
            let what = "\(view.viewer) in \(view.channel): '\(text)' at \(timestamp)"
            if !seen.insert(text).inserted {
                breaches.append("\(what) came twice")
            } else if timestamp <= last {
                breaches.append("\(what) came after one of \(last)")
            }
            last = max(last, timestamp)
            if publisher == view.viewer { breaches.append("\(what) is its own") }
            let source = sources[text]
            if source?.publisher != publisher || source?.channel != view.channel {
                breaches.append("\(what) from \(publisher) was never published so")
            }
        }
        return breaches
    }

    private func holes(in view: View, log: [UInt64: String], gaps: [ClosedRange<UInt64>]) -> [String] {
        let seen = Set(
            view.sightings.compactMap { sighting in
                if case .message(_, _, let timestamp, _) = sighting { timestamp } else { nil }
            })
        return log.sorted { $0.key < $1.key }.filter { timestamp, text in
            !seen.contains(timestamp) && !isOwn(text, of: view)
                && !gaps.contains { $0.contains(timestamp) }
        }.map { "\(view.viewer) in \(view.channel): '\($1)' at \($0) is missing, and no gap was told" }
    }

    /// Acknowledgements without a timestamp say only that the message is somewhere in the log.
    private func unheard(by view: View, log: [UInt64: String], mayHaveLost: Bool) -> [String] {
        let texts = Set(log.values)
        return published.filter {
            $0.channel == view.channel && $0.outcome == .acknowledged(timestamp: nil)
                && $0.publisher != view.viewer && !texts.contains($0.text) && !mayHaveLost
        }.map { "\(view.viewer) in \(view.channel): '\($0.text)' was acknowledged, and nobody received it" }
    }

    private func isOwn(_ text: String, of view: View) -> Bool { text.hasPrefix("\(view.viewer) ") }

    /// The ranges from the last message before each gap to the first one after it.
    private static func gaps(of view: View) -> [ClosedRange<UInt64>] {
        var gaps: [ClosedRange<UInt64>] = []
        var last: UInt64 = 0
        var isOpen = false
        for sighting in view.sightings {
            switch sighting {
            case .gap: isOpen = true
            case .message(_, _, let timestamp, _):
                if isOpen, timestamp >= last { gaps.append(last...timestamp) }
                isOpen = false
                last = max(last, timestamp)
            }
        }
        if isOpen { gaps.append(last...UInt64.max) }
        return gaps
    }

    private func isEpochEnd(within span: ClosedRange<UInt64>) -> Bool {
        epochEnds.contains { span.contains($0) }
    }

    /// The ranges from one message to the next between which an epoch ended.
    private func jumps(of view: View) -> [ClosedRange<UInt64>] {
        let places: [UInt64] = view.sightings.compactMap { sighting in
            if case .message(_, _, let timestamp, _) = sighting { timestamp } else { nil }
        }
        return zip([0] + places, places + [UInt64.max]).filter { $0 <= $1 }.map { $0...$1 }
            .filter(isEpochEnd)
    }
}
