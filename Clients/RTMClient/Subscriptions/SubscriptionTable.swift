// Knows which channels are subscribed, with what features, and how far each has been seen. The users whose
// metadata are followed are among the channels, because each has a log like one.
//
// This is the session cache that a reconnect restores (S-19), and the place that never lets a publication
// through twice, because positions only move forward within one epoch (M-25).

import RTMModel

struct SubscriptionTable: Sendable {
    /// What has revisions of its own, beside the positions of the log.
    enum Revisioned: Sendable, Hashable {
        case metadata, locks
    }

    private struct Entry {
        /// The request that began the subscription.
        let begun: UInt64
        var features: SubscriptionFeatures
        var detail: SubscriptionDetail
        /// Everything up to here has been delivered. It is `nil` until the server's first answer.
        var position: StreamPosition?
        /// The highest offset that arrived before that answer, and its epoch if a gap named it.
        var earlyOffset: UInt64 = 0
        var earlyEpoch: UInt64?
        /// The epoch of the subscription that was being left when this one began. What still comes of that
        /// arrives before the first answer, too, and has offsets of its own epoch.
        var leftEpoch: UInt64?
        /// The request that the server has still to answer, and what it asked for.
        var pending: (request: UInt64, features: SubscriptionFeatures, detail: SubscriptionDetail)?
        /// An unsubscribe is under way.
        var isLeaving = false
        var metadata = RevisionFloor()
        var locks = RevisionFloor()

        var isActive: Bool { position != nil }

        /// A gap that came before the answer says more than the answer, which may have been on its way.
        func begin(_ answered: StreamPosition) -> StreamPosition {
            if let earlyEpoch, earlyEpoch != answered.epoch {
                return StreamPosition(epoch: earlyEpoch, offset: earlyOffset)
            }
            if earlyEpoch == nil, let leftEpoch, leftEpoch != answered.epoch { return answered }
            return StreamPosition(epoch: answered.epoch, offset: max(answered.offset, earlyOffset))
        }
    }

    struct Restoration: Sendable, Equatable {
        var channel: ChannelID
        var features: SubscriptionFeatures
        var after: StreamPosition?
        var detail = SubscriptionDetail()
        /// What the user shows from the join on, as it travels (P-46).
        var states: [String: String] = [:]
    }

    private var entries: [ChannelID: Entry] = [:]

    /// Message channels with a running subscription, in alphabetical order.
    var channels: [String] { active.filter { $0.type == .message }.map(\.name) }

    /// All channels with a running subscription, in their order.
    var active: [ChannelID] { entries.lazy.filter { $0.value.isActive }.map { $0.key }.sorted() }

    /// The channels that a return restores. A stream channel comes before its topics.
    var channelRestorations: [Restoration] { restorations { $0.type != .none } }

    /// The users whose metadata a return follows again.
    var userRestorations: [Restoration] { restorations { $0.type == .none } }

    private func restorations(where isMeant: (ChannelID) -> Bool) -> [Restoration] {
        entries.filter { $0.value.isActive && isMeant($0.key) }.map { Self.restoration($0.key, $0.value) }
            .sorted { $0.channel < $1.channel }
    }

    private static func restoration(_ channel: ChannelID, _ entry: Entry) -> Restoration {
        Restoration(
            channel: channel, features: entry.features, after: entry.position, detail: entry.detail)
    }

    /// `nil` if the channel has no running subscription.
    func restoration(of channel: ChannelID) -> Restoration? {
        guard let entry = entries[channel], entry.isActive else { return nil }
        return Self.restoration(channel, entry)
    }

    /// The request that began the running subscription; `nil` if there is none.
    func running(_ channel: ChannelID) -> UInt64? {
        entries[channel].flatMap { $0.isActive ? $0.begun : nil }
    }

    /// The request for the channel that the server has still to answer; `nil` if there is none.
    func pending(_ channel: ChannelID) -> UInt64? { entries[channel]?.pending?.request }

    func contains(_ channel: ChannelID) -> Bool { entries[channel] != nil }

    /// Whether the server has confirmed the subscription.
    func isActive(_ channel: ChannelID) -> Bool { entries[channel]?.isActive == true }

    /// Whether an unsubscribe is under way that nothing has followed.
    func isLeaving(_ channel: ChannelID) -> Bool { entries[channel]?.isLeaving == true }

    /// The app subscribes. A channel may be subscribed only once at a time (M-8). How many channels there may
    /// be, the server decides (L-24, L-38). A subscription that is being left begins anew.
    mutating func subscribe(
        to channel: ChannelID, features: SubscriptionFeatures,
        _ detail: SubscriptionDetail = SubscriptionDetail(), request: UInt64
    ) throws(RTMError) {
        if var entry = entries[channel], !entry.isLeaving {
            guard entry.pending == nil else {
                throw RTMError(.duplicateOperation, "\(channel.noun): a subscribe is already under way")
            }
            entry.pending = (request, features, detail)
            entries[channel] = entry
            return
        }
        let left = entries[channel].flatMap { $0.position?.epoch ?? $0.leftEpoch }
        entries[channel] = Entry(
            begun: request, features: features, detail: detail, leftEpoch: left,
            pending: (request, features, detail))
    }

    /// Takes the server's answer to a subscribe, or to a restoration if `request` is `nil`, and returns what
    /// was lost, if anything.
    ///
    /// Without a gap and within one epoch the own position stays. What lies between it and the position of
    /// the answer is still on its way, and the position of the answer would make it look like a duplicate.
    mutating func confirm(
        _ channel: ChannelID, request: UInt64?, position: StreamPosition, hasGap: Bool
    ) -> GapEvent? {
        guard var entry = entries[channel] else { return nil }
        if let request {
            guard let pending = entry.pending, pending.request == request else { return nil }
            entry.features = pending.features
            entry.detail = pending.detail
            entry.pending = nil
        }
        defer { entries[channel] = entry }
        guard let seen = entry.position else {
            entry.position = entry.begin(position)
            return nil
        }
        guard hasGap || seen.epoch != position.epoch else { return nil }
        entry.position = position
        return channel.gap(lastSeen: seen, continuesAfter: position)
    }

    /// The subscribe failed, or nobody waits for it any more. A subscription that is being left ends with the
    /// answer to that, so that what belongs to it is forgotten then.
    ///
    /// - Returns: whether nothing of the subscription remains.
    mutating func abandon(_ channel: ChannelID, request: UInt64) -> Bool {
        guard var entry = entries[channel], entry.pending?.request == request else { return false }
        entry.pending = nil
        let remains = entry.isActive || entry.isLeaving
        entries[channel] = remains ? entry : nil
        return !remains
    }

    /// Whether the app still wants what this subscribe asks for.
    func isWanted(_ channel: ChannelID, request: UInt64) -> Bool {
        guard let entry = entries[channel] else { return false }
        return entry.pending?.request == request && !entry.isLeaving
    }

    /// A return needs this from now on.
    mutating func set(_ detail: SubscriptionDetail, of channel: ChannelID) {
        entries[channel]?.detail = detail
    }

    /// The server gives the subscription these features.
    mutating func set(_ features: SubscriptionFeatures, of channel: ChannelID) {
        entries[channel]?.features = features
    }

    mutating func beginLeaving(_ channel: ChannelID) { entries[channel]?.isLeaving = true }

    /// The server refused to end the subscription, which therefore continues.
    mutating func stay(_ channel: ChannelID) {
        guard var entry = entries[channel] else { return }
        entry.isLeaving = false
        entries[channel] = entry.isActive || entry.pending != nil ? entry : nil
    }

    /// Ends a subscription, unless it began anew since it was left.
    ///
    /// - Returns: whether it has ended.
    @discardableResult
    mutating func finishLeaving(_ channel: ChannelID) -> Bool {
        guard let entry = entries[channel] else { return false }
        guard entry.isLeaving else {
            // What comes from here on belongs to the new subscription.
            if !entry.isActive, entry.earlyEpoch == nil { entries[channel]?.earlyOffset = 0 }
            entries[channel]?.leftEpoch = nil
            return false
        }
        entries[channel] = nil
        return true
    }

    mutating func remove(_ channel: ChannelID) { entries[channel] = nil }

    mutating func removeAll() { entries = [:] }

    // MARK: Revisions

    /// A snapshot came.
    ///
    /// - Returns: whether the app follows it.
    mutating func begin(_ revisioned: Revisioned, of channel: ChannelID, at revision: UInt64) -> Bool {
        guard var entry = entries[channel] else { return false }
        switch revisioned {
        case .metadata: entry.metadata.begin(at: revision)
        case .locks: entry.locks.begin(at: revision)
        }
        entries[channel] = entry
        return true
    }

    /// Whether an event shows something that neither the snapshot nor an earlier event has shown (D-45,
    /// K-17).
    mutating func accepts(_ revisioned: Revisioned, revision: UInt64, of channel: ChannelID) -> Bool {
        guard var entry = entries[channel] else { return false }
        defer { entries[channel] = entry }
        return switch revisioned {
        case .metadata: entry.metadata.accepts(revision)
        case .locks: entry.locks.accepts(revision)
        }
    }

    /// The newest revision that was shown.
    func revision(_ revisioned: Revisioned, of channel: ChannelID) -> UInt64 {
        switch revisioned {
        case .metadata: entries[channel]?.metadata.revision ?? 0
        case .locks: entries[channel]?.locks.revision ?? 0
        }
    }

    func features(of channel: ChannelID) -> SubscriptionFeatures { entries[channel]?.features ?? [] }

    /// What a running subscription needs beside its features.
    func detail(of channel: ChannelID) -> SubscriptionDetail {
        entries[channel]?.detail ?? SubscriptionDetail()
    }

    // MARK: Positions

    /// Whether a publication is new, in a channel that is subscribed.
    mutating func accepts(_ channel: ChannelID, offset: UInt64) -> Bool {
        guard let index = entries.index(forKey: channel) else { return false }
        guard let seen = entries.values[index].position else {
            guard offset > entries.values[index].earlyOffset else { return false }
            entries.values[index].earlyOffset = offset
            return true
        }
        guard offset > seen.offset else { return false }
        entries.values[index].position = StreamPosition(epoch: seen.epoch, offset: offset)
        return true
    }

    /// The server says that what lay before this position is lost.
    mutating func skip(_ channel: ChannelID, to position: StreamPosition) -> GapEvent? {
        guard var entry = entries[channel] else { return nil }
        let seen = entry.position
        if entry.isActive {
            entry.position = position
        } else {
            // The channel doesn't count as subscribed by that, because the answer may still be a refusal, or
            // may never come.
            entry.earlyOffset = position.offset
            entry.earlyEpoch = position.epoch
        }
        entries[channel] = entry
        return channel.gap(lastSeen: seen, continuesAfter: position)
    }
}

extension ChannelID {
    fileprivate func gap(lastSeen: StreamPosition?, continuesAfter: StreamPosition) -> GapEvent {
        GapEvent(
            channelType: type, channelName: name, lastSeen: lastSeen, continuesAfter: continuesAfter)
    }

    fileprivate var noun: String {
        type == .none ? "metadata of user '\(name)'" : "channel '\(name)'"
    }
}

/// What a subscription needs beside its features, again at each return.
struct SubscriptionDetail: Sendable, Hashable {
    /// What lets the user join a stream channel.
    var token = ""
    /// Whose messages of a topic are wanted.
    var publishers: [String] = []

    /// How much of a request this takes, with its keys and lengths.
    var byteCount: Int { publishers.reduce(token.utf8.count + 8) { $0 + $1.utf8.count + 3 } }
}

/// What the client has subscribed to in this session. The features share it.
final class LinkSubscriptions {
    var table = SubscriptionTable()
}

/// Up to which revision the metadata, or the locks, of a subscription have been shown to the app.
///
/// A snapshot is true at a revision of its own, which need not be the position in the log where the
/// subscription continues. Entries that the snapshot already contains may still come, and are ignored (D-45,
/// K-17).
struct RevisionFloor: Sendable {
    private(set) var revision: UInt64 = 0

    /// A snapshot is always shown, even after a reconnect (S-21), and even if storage has begun anew below.
    mutating func begin(at snapshot: UInt64) { revision = snapshot }

    /// Whether an event is newer than what was shown.
    mutating func accepts(_ event: UInt64) -> Bool {
        guard event > revision else { return false }
        revision = event
        return true
    }
}
