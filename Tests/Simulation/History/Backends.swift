import Foundation
import NIOCore
import RTMModel
import RTMWire

@testable import RTMGatewayServer
@testable import RTMTestKit

/// What backends do over HTTP: they publish, and repeat a request that wasn't answered with the same key at
/// another gateway; they read events by pull; and operators move webhooks and look at them.
final class Backends {
    private let installation: Installation
    private let world: VirtualWorld
    private let journal: HistoryLog
    private let random: RandomStream
    private let channels = ["red", "green", "blue", "black"].map(Place.channel)
    private let pace: Int
    /// How many messages may still be such as no receiver takes.
    private var poison: Int
    private let isMoving: Bool
    private var isOver = false
    private var lastNumber = 0
    private var lastMove = 0
    private var pollers: [Poller]
    /// Where messages of a channel lie that were published over HTTP, as the answers say.
    private var places: [Place: [StreamPosition]] = [:]
    /// The positions of events that were read.
    private var events: [StreamPosition] = []
    private var readers: [EventReader] = []
    /// Where webhooks have begun: nobody moves one further back.
    private var begins: [String: UInt64] = [:]
    private(set) var newest: UInt64 = 0

    private struct Poller {
        var after: String?
        var isAsking = false
    }

    /// How long a backend waits for an answer, and for how long it repeats a request.
    private static let answerTime = TimeAmount.seconds(10)
    private static let repeats = Duration.seconds(60)
    /// Those of one key are given up one behind the other, each after its time.
    private static let poisonMax = 6

    /// - Parameter hasPoison: whether some messages are such as no receiver takes.
    init(_ installation: Installation, hasPoison: Bool) {
        self.installation = installation
        poison = hasPoison ? Self.poisonMax : 0
        (world, journal) = (installation.world, installation.journal)
        random = world.random("backends")
        pace = random.number(in: 100...600)
        isMoving = random.chance(1, in: 2)
        pollers = Array(repeating: Poller(), count: 2)
    }

    func begin() {
        publishNow()
        for index in pollers.indices { poll(index) }
        look()
        move()
    }

    /// Nothing new is published or moved; whoever reads continues.
    func end() {
        isOver = true
        for reader in readers { revive(reader) }
    }

    private var anyGateway: GatewayProcess? {
        random.pick(installation.gatewayHosts.compactMap { installation.gateways[$0] })
    }

    /// - Parameter done: called once: with what a gateway answers, or with nil when it takes too long.
    private func ask<Value: Sendable>(
        within answerTime: TimeAmount = answerTime,
        _ request: @escaping (GatewayCalls, @escaping GatewayCalls.Answer<Value>) -> Void,
        then done: @escaping (Result<Value, RTMError>?) -> Void
    ) {
        var isDone = false
        let finish = { (result: Result<Value, RTMError>?) in
            guard !isDone else { return }
            isDone = true
            done(result)
        }
        world.after(answerTime) { finish(nil) }
        anyGateway?.ask(request, finish)
    }

    // MARK: Publishing

    private func publishNow() {
        world.after(random.milliseconds(1...2 * pace)) {
            guard !self.isOver else { return }
            for _ in 0..<self.random.number(in: 1...3) { self.publishOne() }
            self.publishNow()
        }
    }

    private func publishOne() {
        guard let place = random.pick(channels) else { return }
        lastNumber += 1
        // Every request comes from elsewhere: those that are under way together have no order.
        let device = DeviceID(number: 100_000 + lastNumber, user: "backend")
        let isPoison = poison > 0 && random.chance(1, in: 30)
        if isPoison { poison -= 1 }
        let publish = HTTPPublish(
            device: device, text: "\(device)" + (isPoison ? "-" + Receiver.poison : ""), place: place,
            condition: random.chance(1, in: 4) ? random.pick(places[place] ?? []) : nil,
            began: world.elapsed, losses: installation.losses)
        journal.record(.called(device, 1, .publish(publish.text, place)))
        if let newest = publish.condition {
            journal.record(.backend(.conditional(publish.text, epoch: newest.epoch, offset: newest.offset)))
        }
        send(publish)
    }

    /// A message that a backend publishes, under one key.
    private struct HTTPPublish {
        let device: DeviceID
        let text: String
        let place: Place
        let condition: StreamPosition?
        let began: Duration
        /// How often logs had been lost when it began.
        let losses: Int
    }

    private func send(_ publish: HTTPPublish) {
        guard let message = message(publish) else { return }
        ask { [installation] calls, answer in
            // What is sent again after logs were lost is not promised to be known (M-25).
            if installation.losses == publish.losses { calls.publish(message, answer) }
        } then: {
            self.answered(publish, $0)
        }
    }

    private func message(_ publish: HTTPPublish) -> GatewayMessage? {
        do {
            let payload = ByteBuffer(string: publish.text)
            return try GatewayMessage(
                to: ChannelKey(appID: "app", type: .message, name: publish.place.name),
                by: publish.device.user, .text, payload, customType: "",
                origin: Idempotency(publish.text, of: "key", in: "app")
                    .origin(of: .init(.text, payload, customType: "")),
                condition: publish.condition.map { PublishCondition(newest: $0) })
        } catch {
            journal.record(.broken("\(publish.text) is refused: \(error.reason)"))
            return nil
        }
    }

    private func answered(_ publish: HTTPPublish, _ result: Result<BackendPublishResponse, RTMError>?) {
        guard case .success(let response)? = result else { return sendAgain(publish) }
        switch response.outcome {
        case .published, .repeated:
            let position = response.position
            places[publish.place, default: []].append(position)
            if places[publish.place, default: []].count > 3 { places[publish.place]?.removeFirst() }
            journal.record(
                .backend(.accepted(publish.text, epoch: position.epoch, offset: position.offset)))
            end(publish, .published(offset: position.offset, timestamp: response.timestampMilliseconds))
        case .outdatedPosition, .outdatedVersion: end(publish, .failed(.channelPublishMessageFailed))
        case .otherContent: journal.record(.broken("the key of \(publish.text) is taken for another one's"))
        }
    }

    private func end(_ publish: HTTPPublish, _ outcome: Outcome) {
        journal.record(.ended(publish.device, 1, outcome))
    }

    private func sendAgain(_ publish: HTTPPublish) {
        guard installation.losses == publish.losses, world.elapsed - publish.began < Self.repeats else {
            return end(publish, .failed(.channelPublishMessageTimeout))
        }
        world.after(random.milliseconds(1...1_000)) { self.send(publish) }
    }

    // MARK: Reading by pull

    private func poll(_ index: Int) {
        guard !pollers[index].isAsking else { return }
        pollers[index].isAsking = true
        let after = pollers[index].after
        let wait = Duration.seconds(Int64(anyOf(0, 2, 20)))
        let request = EventsRequest(
            appID: "app", after: after.flatMap(EventCursor.position) ?? StreamPosition(epoch: 0, offset: 0),
            limit: UInt32(anyOf(10, 100, 1_000)), wait: wait)
        ask(within: .seconds(40)) {
            $0.ask(StorageMethod.events, request, $1)
        } then: {
            self.polled(index, after, $0)
        }
    }

    private func anyOf(_ numbers: Int...) -> Int { random.pick(numbers) ?? 0 }

    private func polled(_ index: Int, _ after: String?, _ result: Result<EventsResponse, RTMError>?) {
        pollers[index].isAsking = false
        if case .success(let response)? = result {
            let page = EventRoutes.Page(response, app: "app")
            let lines = (try? JSONEncoder().encode(page.events)).flatMap {
                try? JSONDecoder().decode([EventLine].self, from: $0)
            }
            guard let lines else { return journal.record(.broken("a page of events can't be read")) }
            if index == 0 { events += response.events.map(\.position) }
            if page.next != after {
                journal.record(.backend(.polled(index, after: after, lines, next: page.next)))
            }
            pollers[index].after = page.next
        }
        world.after(random.milliseconds(1...2_000)) { self.poll(index) }
    }

    // MARK: Operators

    private func look() {
        list { self.world.after(self.random.milliseconds(200...2_000)) { self.look() } }
    }

    private func list(_ done: @escaping () -> Void) {
        let askedAt = world.elapsed
        ask {
            $0.ask(StorageMethod.readers, ReadersRequest(appID: "app"), $1)
        } then: { result in
            if case .success(let page)? = result {
                self.readers = page.readers
                self.newest = page.newest.offset
                for reader in page.readers {
                    let position = reader.position.offset
                    self.begins[reader.name] = min(self.begins[reader.name] ?? position, position)
                    let line = ReaderLine(
                        webhook: reader.name, term: reader.term, position: reader.position.offset,
                        newest: page.newest.offset)
                    self.journal.record(.backend(.listed(line, askedAt: askedAt)))
                }
            }
            done()
        }
    }

    private func move() {
        world.after(random.milliseconds(1_000...30_000)) {
            guard !self.isOver else { return }
            if let reader = self.random.pick(self.readers) {
                self.revive(reader)
                let begin = self.begins[reader.name] ?? 0
                let places = self.events.filter {
                    (begin...max(begin, reader.position.offset)).contains($0.offset)
                }
                if self.isMoving, let place = self.random.pick(places.suffix(100)) {
                    self.move(reader, to: place)
                }
            }
            self.move()
        }
    }

    /// A webhook that a 410 has ended continues where it is.
    private func revive(_ reader: EventReader) {
        let journal = try? JSONDecoder().decode(WebhookJournal.self, from: Data(reader.state))
        if journal?.isEnded ?? false { move(reader, to: reader.position) }
    }

    private func move(_ reader: EventReader, to position: StreamPosition) {
        lastMove += 1
        let number = lastMove
        journal.record(.backend(.moves(number, reader.name, position.offset)))
        let request = MoveReader(appID: "app", name: reader.name, position: position)
        ask {
            $0.ask(StorageMethod.moveReader, request, $1)
        } then: { result in
            let isMoved = result.flatMap { try? $0.get().isFound }
            self.journal.record(.backend(.moved(number, isMoved)))
        }
    }

    /// Waits until everybody has everything, for as long as that may take: what is given up last may be the
    /// last of several behind each other, each with its time. Then lists what was given up.
    func finish() {
        for _ in 0..<60 where !isCaughtUp {
            world.pass(.seconds(20))
            for reader in readers { revive(reader) }
        }
        list {}
        listLetters()
        world.pass(.seconds(5))
    }

    /// Whether every webhook and every reader by pull has everything, as of the last look.
    var isCaughtUp: Bool {
        !readers.isEmpty && readers.allSatisfy { $0.position.offset == newest }
            && pollers.allSatisfy { $0.after.flatMap(EventCursor.position)?.offset == newest }
    }

    private func listLetters() {
        for reader in readers {
            letters(of: reader.name, after: 0, [])
        }
    }

    private func letters(of webhook: String, after: UInt64, _ found: [LetterLine]) {
        let request = DeadLettersRequest(appID: "app", name: webhook, after: after, limit: 100)
        ask {
            $0.ask(StorageMethod.deadLetters, request, $1)
        } then: { result in
            guard case .success(let page)? = result else {
                return self.journal.record(.broken("the dead letters of \(webhook) can't be read"))
            }
            let lines = page.letters.compactMap { letter in
                (try? JSONDecoder().decode(EventLine.self, from: Data(letter.body)))
                    .map { LetterLine(event: $0, time: letter.timeMilliseconds) }
            }
            if page.hasMore, let last = page.letters.last?.number {
                self.letters(of: webhook, after: last, found + lines)
            } else {
                self.journal.record(.backend(.letters(webhook, found + lines)))
            }
        }
    }
}
