import Logging
import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// Plays many callers over a link to each shard of each storage node, each with one call under way. It is
/// confined to the links' event loop.
final class BenchCaller: ServiceLinkClientDelegate {
    private var links: [ServiceLinkClient] = []
    private let makeLinks: (_ shard: Int) -> [ServiceLinkClient]
    /// By shard: the link to the node that leads it; nil until one has announced that.
    private var leaders: [ServiceLinkClient?] = []
    private let arena = DecodeArena()
    private let up: EventLoopPromise<Void>
    private let loop: any EventLoop
    private var calls: [any BenchCall] = []
    private var tickets: [UInt64: Int] = [:]
    private var count = 0
    private var open = 0
    private var isOver: (Int) -> Bool = { _ in true }
    private var finished: EventLoopPromise<Int>?
    private var appending: Appending?
    /// The measurement of latency sets these two. The argument is the caller's number.
    var called: ((Int) -> Void)?
    var acknowledged: ((Int) -> Void)?

    private struct Appending {
        let part: HistoryPart
        var next: Int
        let finished: EventLoopPromise<Void>
    }

    private init(
        loop: any EventLoop, up: EventLoopPromise<Void>,
        makeLinks: @escaping (_ shard: Int) -> [ServiceLinkClient]
    ) {
        self.makeLinks = makeLinks
        self.loop = loop
        self.up = up
    }

    static func connected(
        to nodes: [ServiceLinkAddress], _ link: ServiceLinkConfiguration = .init(), on loop: any EventLoop,
        logger: Logger
    ) async throws -> NIOLoopBound<BenchCaller> {
        let up = loop.makePromise(of: Void.self)
        let caller = try await loop.submit {
            let caller = BenchCaller(loop: loop, up: up) { shard in
                var configuration = ServiceLinkClientConfiguration(service: "storage", node: "bench")
                configuration.link = link
                configuration.shard = shard
                return nodes.map {
                    ServiceLinkClient(configuration, to: $0, endOfTurn: .shared(on: loop), logger: logger)
                }
            }
            caller.open(upTo: 1)
            return NIOLoopBound(caller, eventLoop: loop)
        }.get()
        try await up.futureResult.get()
        return caller
    }

    private func open(upTo shards: Int) {
        for shard in leaders.count..<max(leaders.count, shards) {
            leaders.append(nil)
            let opened = makeLinks(shard)
            links += opened
            for link in opened { link.start(delegate: self) }
        }
    }

    private func link(to channel: ChannelKey?) throws -> ServiceLinkClient {
        let shard = channel?.storageShard(among: leaders.count) ?? 0
        guard let link = leaders[shard] else { throw BenchFailure(what: "nobody leads shard \(shard)") }
        return link
    }

    func close() { for link in links { link.shutdown() } }

    /// Calls until `isOver` accepts the number of answers, and returns that number.
    func run<Call: BenchCall>(
        _ callers: Int, until isOver: @escaping (Int) -> Bool, _ make: (Int) -> Call
    ) -> EventLoopFuture<Int> {
        let promise = loop.makePromise(of: Int.self)
        finished = promise
        self.isOver = isOver
        calls = (0..<callers).map { make($0) }
        count = 0
        open = callers
        for number in 0..<callers { call(number) }
        return promise.futureResult
    }

    private func call(_ number: Int) {
        called?(number)
        let call = calls[number]
        let caller = Caller(
            appID: "app", userID: call.user, session: SessionID(rawValue: UInt64(number + 1)), instance: 1)
        call.request().withUnsafeReadableBytes { bytes in
            let request = CallRequest(caller: caller, request: WireText(bytes))
            do {
                try link(to: leaders.count > 1 ? request.storedChannel : nil).request(
                    StorageMethod.call.number, request, timeout: .seconds(60), context: number)
            } catch {
                finished.take()?.fail(error)
            }
        }
    }

    private func answered(_ number: Int, _ response: UnsafeRawBufferPointer) {
        acknowledged?(number)
        calls[number].answered(response)
        count += 1
        // A caller that has a lock continues until it has released it, because others wait for it.
        guard isOver(count), calls[number].isComplete else { return call(number) }
        open -= 1
        if open == 0 { finished.take()?.succeed(count) }
    }

    func append(_ part: HistoryPart, _ callers: Int) -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        appending = Appending(part: part, next: part.numbers.lowerBound, finished: promise)
        open = 0
        for _ in 0..<callers { appendNext() }
        return promise.futureResult
    }

    private func appendNext() {
        guard var appending else { return }
        guard appending.next < appending.part.numbers.upperBound else {
            if open == 0 { appending.finished.succeed(()) }
            return
        }
        let number = appending.next
        appending.next += 1
        self.appending = appending
        open += 1
        let channel = ChannelKey(appID: "app", type: .message, name: appending.part.channel(of: number))
        let payload = [UInt8](repeating: 0x61, count: 100)
        payload.withUnsafeBytes { payload in
            do {
                try link(to: channel).request(
                    StorageMethod.appendHistory.number,
                    AppendHistoryRequest(
                        channel: channel, publisher: "user",
                        timestampMilliseconds: appending.part.time(of: number),
                        message: MessageView(type: .text, payload: WireText(payload), customType: .empty),
                        origin: PublishOrigin(
                            instance: UInt64(number % 64 + 1), sequence: UInt64(number / 64 + 1))),
                    timeout: .seconds(60), context: -1)
            } catch {
                appending.finished.fail(error)
            }
        }
    }

    // MARK: The links

    func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) {
        open(upTo: peer.shards)
        if !peer.announcesLeader { serves(link) }
    }

    private func serves(_ link: ServiceLinkClient) {
        leaders[link.configuration.shard] = link
        if !leaders.contains(where: { $0 == nil }) { up.succeed(()) }
    }

    func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {}

    func response(
        _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
    ) {
        guard case .success(let body) = outcome else {
            finished.take()?.fail(BenchFailure(what: "\(outcome)"))
            return
        }
        guard context >= 0 else {
            open -= 1
            return appendNext()
        }
        guard let response = try? StorageCallResponse(body, in: arena) else { return }
        guard response.response.isEmpty, response.ticket != 0 else {
            return answered(context, response.response.bytes)
        }
        tickets[response.ticket] = context
    }

    func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {
        if method == StorageMethod.leader.number { serves(link) }
        guard method == StorageMethod.lockGranted.number, let push = try? LockGrantedPush(scanning: body),
            let number = tickets.removeValue(forKey: push.ticket)
        else { return }
        answered(number, push.response.bytes)
    }
}

struct BenchFailure: Error {
    let what: String
}
