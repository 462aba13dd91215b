import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMEdgeServer

/// The arrows of the diagram in docs/decisions/0010, compared with those that generated subscribes go.
@Suite("The arrows of a subscribe") struct SubscribeArrowTests {
    @Test("the diagram in the decision has the arrows that subscribes go, and no others")
    func diagram() throws {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let text = try TextFile.read("/\(root)/docs/decisions/0010-attach-then-snapshots-then-read.md")
        let drawn = text.split(separator: "\n").filter { $0.contains(" --> ") }
            .map { $0.drop { $0 == " " }.prefix { $0 != ":" } }
        var gone: Set<String> = []
        for seed in 0..<4_000 as Range<UInt64> {
            var walk = SubscribeWalk(seed: seed)
            walk.run()
            gone.formUnion(walk.arrows)
        }
        #expect(Set(drawn.map(String.init)).sorted() == gone.sorted())
    }
}

/// One subscribe, whose circumstances and answers are chosen by a seed.
private struct SubscribeWalk {
    private var random: SeededGenerator
    private var machine: SubscribeMachine
    private var isAttached = true
    private var isWritable: Bool
    private var offset: UInt64 = 7
    /// What may still happen to the subscribe. Some of it comes when it is awaited no longer.
    private var pending: [Pending] = []
    private var isOver = false
    private(set) var arrows: Set<String> = []

    private enum Pending { case attachment, presence, roster, storage, page, writable, retry }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        isWritable = random.chance(1, in: 2)
        let channel = ChannelKey.test("a")
        let session = SessionKey.test(1)
        func request(
            _ channel: ChannelKey, _ purpose: SubscribeRequest.Purpose,
            _ features: SubscriptionFeatures, after: StreamPosition? = nil
        ) -> SubscribeRequest {
            SubscribeRequest(
                session: session, requestID: 1, channel: channel, purpose: purpose, features: features,
                after: after)
        }
        let owner = InboxOwner(session: session, instance: 7, attempt: 1, isReturn: true)
        let all: SubscriptionFeatures = [.message, .presence, .metadata]
        let kind = Int.random(in: 0..<8, using: &random)
        let (made, isReturning) =
            switch kind {
            case 0: (request(channel, .subscribe, all), false)
            case 1: (request(channel, .subscribe, all, after: .at(6)), false)
            case 2: (request(channel, .login(owner), .message), false)
            case 3: (request(channel, .login(owner), .message, after: .at(6)), false)
            case 4: (request(channel, .userMetadata, .metadata), false)
            case 5: (request(channel, .refresh, all), true)
            case 6: (request(channel, .subscribe, all), true)
            default: (request(channel, .subscribe, .message, after: .at(7)), false)
            }
        machine = SubscribeMachine(SubscribeID(rawValue: 1), made, at: 0)
        if isReturning { machine.comeBack(from: .at(6), with: .message) }
        isAttached = random.chance(1, in: 2)
        pending = [.attachment]
    }

    mutating func run() {
        for _ in 0..<30 where !isOver {
            change()
            guard let index = pending.indices.randomElement(using: &random) else { return }
            let next = pending.remove(at: index)
            switch next {
            case .attachment:
                isAttached = random.chance(3, in: 4)
                handle(isAttached ? .proceed : .attachFailed(.disconnected))
            case .presence: handle(.presenceAnswered(presenceAnswer(mayBeBig: true)))
            case .roster: handle(.presenceAnswered(presenceAnswer(mayBeBig: false)))
            case .storage: handle(.storageAnswered(storageAnswer().map { RequestedPage(frames: $0) }))
            case .page: handle(.pageRead(pageAnswer()))
            case .writable, .retry: handle(.proceed)
            }
        }
    }

    /// The log moves on, the link breaks, or the client reads or doesn't.
    private mutating func change() {
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where isAttached: offset += 1
        case 1: isWritable.toggle()
        case 2: isAttached.toggle()
        default: break
        }
    }

    private mutating func presenceAnswer(mayBeBig: Bool) -> PresenceAnswer {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .unavailable
        case 1 where mayBeBig: .bigSnapshot
        case 2 where mayBeBig: .refused(RTMError(.channelSubscribeFailed, "the channel is full"))
        default: .snapshot([RequestedPage(frames: IndexScene.frames(1...1))])
        }
    }

    private mutating func storageAnswer() -> ServiceLinkResult<ByteBuffer> {
        random.chance(1, in: 4) ? .failure(.timedOut) : .success(IndexScene.frames(2...2))
    }

    /// A page with more behind it ends before the position that the edge has.
    private mutating func pageAnswer() -> ServiceLinkResult<SubscribePage> {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .failure(.timedOut)
        case 1: .failure(.refused(RTMError(.channelSubscribeFailed, "the position is not known")))
        default:
            .success(page(hasMore: random.chance(1, in: 2)))
        }
    }

    private mutating func page(hasMore: Bool) -> SubscribePage {
        offset += 1
        return SubscribePage(
            frames: IndexScene.frames(3...3), position: .at(hasMore ? offset - 1 : offset),
            gap: random.chance(1, in: 4), more: hasMore)
    }

    private mutating func handle(_ event: SubscribeEvent) {
        let before = Self.name(machine.state)
        let step = machine.handle(
            event, .init(position: .at(offset), isAttached: isAttached, isWritable: isWritable))
        switch step.transition {
        case .none, .awaitAttachment, .awaitNextAttachment, .prepare, .read:
            went(from: before, to: Self.name(machine.state))
        case .goLive: end(before, "live")
        case .giveUp: end(before, "refused")
        }
        for action in step.actions where !isOver { perform(action) }
        perform(step.transition)
    }

    private mutating func perform(_ action: SubscribeAction) {
        switch action {
        case .proceed:
            // What was sent just now may have filled the socket.
            if random.chance(1, in: 2) { isWritable = false }
            handle(.proceed)
        case .awaitWritable: pending.append(.writable)
        case .retry: pending.append(.retry)
        case .collect(let query): ask(query)
        default: break
        }
    }

    private mutating func perform(_ transition: SubscribeMachine.Step.Transition) {
        switch transition {
        case .none, .goLive, .giveUp: break
        case .awaitAttachment, .awaitNextAttachment: pending.append(.attachment)
        case .prepare(let query): ask(query)
        case .read: pending.append(.page)
        }
    }

    private mutating func ask(_ query: SnapshotQuery) {
        if query.join != nil { pending.append(.presence) }
        if query.wantsRoster { pending.append(.roster) }
        if !query.stored.isEmpty { pending.append(.storage) }
    }

    private mutating func went(from: String, to: String) {
        if from != to { arrows.insert("\(from) --> \(to)") }
    }

    private mutating func end(_ from: String, _ to: String) {
        isOver = true
        went(from: from, to: to)
    }

    private static func name(_ state: SubscribeMachine.State) -> String {
        switch state {
        case .attaching: "attaching"
        case .preparing: "preparing"
        case .awaitingWritable: "awaitingWritable"
        case .reading: "reading"
        case .pageDue: "pageDue"
        case .suspended: "suspended"
        }
    }
}
