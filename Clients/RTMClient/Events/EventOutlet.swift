// Through here every event of a link leaves for the app, in one order.

import RTMModel

final class EventOutlet {
    private let hub: EventHub
    private let recorder: FlightRecorder
    private var held = HeldEvents()

    init(_ hub: EventHub, _ recorder: FlightRecorder) {
        self.hub = hub
        self.recorder = recorder
    }

    func emit(_ event: RTMEvent) {
        if case .gap(let gap) = event { recorder.noted(gap) }
        hub.emit(event)
    }

    /// Emits an event of a channel, or keeps it while the channel's events are held back.
    func emit(_ event: RTMEvent, of channel: ChannelID) {
        guard held.isHolding(channel) else { return emit(event) }
        for event in held.append(event, of: channel) { emit(event) }
    }

    /// Holds the events of a channel back until `releaseAll`.
    func hold(_ channel: ChannelID) { held.hold(channel) }

    func releaseAll() {
        for event in held.releaseAll() { emit(event) }
    }

    func finish() { hub.finish() }
}

/// Events of channels in which locks are being claimed after a reconnect. They wait until it is known which
/// locks are lost, so that `.expired` comes before the snapshot (K-12) and the channel's order is kept.
struct HeldEvents {
    /// Limit: events of one channel that wait. Beyond it they are released at once, whatever is still unknown
    /// about locks.
    static let eventsMax = 4096

    private var events: [ChannelID: [RTMEvent]] = [:]

    func isHolding(_ channel: ChannelID) -> Bool { events[channel] != nil }

    mutating func hold(_ channel: ChannelID) { events[channel] = events[channel] ?? [] }

    /// - Returns: what has to be emitted now.
    mutating func append(_ event: RTMEvent, of channel: ChannelID) -> [RTMEvent] {
        guard events[channel] != nil else { return [event] }
        events[channel]?.append(event)
        guard let waiting = events[channel], waiting.count >= Self.eventsMax else { return [] }
        events[channel] = nil
        return waiting
    }

    /// - Returns: the events of all channels, in the order of the channels' names.
    mutating func releaseAll() -> [RTMEvent] {
        defer { events = [:] }
        return events.sorted { $0.key < $1.key }.flatMap { $0.value }
    }
}
