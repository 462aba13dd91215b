import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// One request of an operator's program to the service that runs, over a link of its own.
final class OperatorCall<Request: WireEncodable & Sendable, Response: ArenaDecodable & Sendable>:
    ServiceLinkClientDelegate
{
    /// How long the service may take to answer.
    private static var timeout: Duration { .seconds(10) }

    private let method: UInt32
    private let request: Request
    private let outcome: EventLoopPromise<Response>
    private let arena = DecodeArena()

    private init(_ method: UInt32, _ request: Request, _ outcome: EventLoopPromise<Response>) {
        self.method = method
        self.request = request
        self.outcome = outcome
    }

    /// Waits for the answer.
    static func ask(
        _ method: UInt32, _ request: Request, _ access: OperatorCommands.Access,
        _ configuration: Configuration
    ) throws -> Response {
        let address = access.address(configuration)
        let settings = try access.link(configuration)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { try? group.syncShutdownGracefully() }
        let loop = group.next()
        let outcome = loop.makePromise(of: Response.self)
        loop.execute {
            var link = ServiceLinkClientConfiguration(service: "storage", node: "operator")
            link.link = settings
            let client = ServiceLinkClient(
                link, to: address, endOfTurn: .shared(on: loop),
                logger: Logger(label: "operator") { _ in SwiftLogNoOpLogHandler() })
            client.start(delegate: OperatorCall(method, request, outcome))
        }
        loop.scheduleTask(in: TimeAmount(timeout)) { outcome.fail(ServiceLinkRequestFailure.timedOut) }
        do {
            return try outcome.futureResult.wait()
        } catch {
            throw ServiceFailure.unavailable("storage at \(address)", error)
        }
    }

    func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) {
        do throws(RTMError) {
            try link.request(method, request, timeout: Self.timeout, context: 0)
        } catch {
            outcome.fail(error)
        }
    }

    func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        outcome.fail(ServiceLinkRequestFailure.disconnected)
    }

    func linkUnreachable(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {
        outcome.fail(RTMError(.storageNotAvailable, "it can't be reached: \(reason)"))
        link.shutdown()
    }

    func response(
        _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
    ) {
        switch outcome {
        case .success(let body): self.outcome.completeWith(Result { try Response(body, in: arena) })
        case .failed(let error): self.outcome.fail(error)
        case .timedOut: self.outcome.fail(ServiceLinkRequestFailure.timedOut)
        case .disconnected: self.outcome.fail(ServiceLinkRequestFailure.disconnected)
        }
        link.shutdown()
    }

    func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {}
}
