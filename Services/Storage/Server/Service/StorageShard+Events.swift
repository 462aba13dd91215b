import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// What gateways ask about events and their readers (W-42, W-44), and the collecting of events.
extension StorageShard {
    /// The apps whose events are kept, and for how long. Those of other shards are left out.
    func keepEvents(for times: [String: UInt64]) {
        let times = times.filter { ChannelKey.app($0.key).storageShard(among: shardCount) == number }
        mayHaveEvents = true
        eventRetention = times
        if leadership.serves { collector.collect(Set(times.keys), on: eventLoop) }
    }

    func claim(_ request: ClaimReader, _ call: StorageCall) throws {
        try request.check()
        try checkEvents(request.appID)
        try write(request, call)
    }

    func keep(_ request: KeepReader, _ call: StorageCall) throws {
        try request.check()
        try write(request, call)
    }

    // MARK: Reads that wait for an event

    func readEvents(_ request: EventsRequest, _ call: StorageCall) throws(RTMError) {
        try checkEvents(request.appID)
        let deadline = steadyMilliseconds + min(request.wait, Self.waitMax).milliseconds
        try read(.init(request: request, link: call.link.id, id: call.id, deadline: deadline), call.link)
    }

    /// Limit: how long a read of events waits.
    private static let waitMax = Duration.seconds(60)

    private var steadyMilliseconds: UInt64 { eventLoop.now.uptimeNanoseconds / 1_000_000 }

    private func checkEvents(_ app: String) throws(RTMError) {
        guard eventRetention[app] != nil else {
            throw RTMError(
                .invalidParameter,
                "the app has no events: set events in its record of apps to the time for which they are kept")
        }
    }

    /// Limit: how long a read of events waits for its turn.
    private static let turnMax = TimeAmount.seconds(5)

    private func read(_ wait: EventWaits.Wait, _ link: AcceptedServiceLink) throws(RTMError) {
        let read = StorageRead(wait.request, link: link.id) { shard, page in shard.ended(wait, page) }
        try self.read(read, link, eventLoop.now + Self.turnMax)
    }

    private func ended(_ wait: EventWaits.Wait, _ page: Result<EventsResponse, RTMError>) {
        guard let link = links[wait.link] else { return }
        let response: EventsResponse
        switch page {
        case .success(let page): response = page
        case .failure(let error): return refuse(wait.id, error, link)
        }
        switch eventWaits.next(after: response, wait, now: steadyMilliseconds) {
        case .answer: link.respond(to: wait.id, response)
        case .readAgain(let request): readAgain(wait, request, link)
        case .wait:
            var wait = wait
            wait.request.after = response.next
            park(wait)
        }
    }

    private func readAgain(_ wait: EventWaits.Wait, _ request: EventsRequest, _ link: AcceptedServiceLink) {
        var wait = wait
        wait.request = request
        do throws(RTMError) { try read(wait, link) } catch { refuse(wait.id, error, link) }
    }

    private func park(_ wait: EventWaits.Wait) {
        let number = eventWaits.park(wait)
        metrics.eventWaits.set(eventWaits.count, of: self)
        let time = TimeAmount.milliseconds(Int64(wait.deadline) - Int64(steadyMilliseconds))
        eventLoop.assumeIsolated().scheduleTask(in: time) {
            guard let wait = self.eventWaits.expired(number), let link = self.links[wait.link] else { return }
            self.metrics.eventWaits.set(self.eventWaits.count, of: self)
            link.respond(to: wait.id, EventsResponse(next: wait.request.after))
        }
    }

    func collected(_ outcome: WriteOutcome) {
        metrics.eventsKept.increment(by: outcome.eventsKept)
        for feed in outcome.collected { collector.kept(feed.feed, feed.isKept) }
        for (app, offset) in outcome.newEvents {
            for wait in eventWaits.kept(app, newest: offset) {
                guard let link = links[wait.link] else { continue }
                readAgain(wait, wait.request, link)
            }
        }
        metrics.eventWaits.set(eventWaits.count, of: self)
    }
}
