import NIOCore
import RTMModel
import RTMServiceLink
import Synchronization

/// The called service of the tests.
enum EchoMethod {
    /// Answers with the request's body.
    static let echo: UInt32 = 1
    /// Never answers.
    static let never: UInt32 = 2
    /// Fails with `EchoService.error`.
    static let fail: UInt32 = 3
    /// Pushes the body, then answers with it.
    static let pushAndEcho: UInt32 = 4
    /// Answers only after the given number of milliseconds.
    static let later: UInt32 = 5
    /// Answers, then closes the link.
    static let close: UInt32 = 6
    /// Answers with as many bytes as the body says.
    static let large: UInt32 = 7
    /// Pushes as many bytes as the body says.
    static let largePush: UInt32 = 8
    /// Answers with the remaining timeout in milliseconds.
    static let timeout: UInt32 = 9
}

final class EchoService: ServiceLinkHandler {
    static let error = RTMError(
        .channelNotAvailable, "closed today", retryAfter: .seconds(2), limit: .init(name: "doors", value: 1))

    /// What the service saw, readable from the test.
    final class Visits: Sendable {
        struct State: Sendable {
            var opened: [String] = []
            var closed: [ServiceLinkDownReason] = []
            var pushes: [Bytes] = []
            var requests = 0
        }
        let state = Mutex(State())
        var now: State { state.withLock { $0 } }
    }

    private let visits: Visits

    init(_ visits: Visits) { self.visits = visits }

    func linkOpened(_ link: AcceptedServiceLink) { visits.state.withLock { $0.opened.append(link.peerNode) } }

    func linkClosed(_ link: AcceptedServiceLink, _ reason: ServiceLinkDownReason) {
        visits.state.withLock { $0.closed.append(reason) }
    }

    func push(method: UInt32, body: UnsafeRawBufferPointer, from link: AcceptedServiceLink) {
        let copy = Bytes(Array(body))
        visits.state.withLock { $0.pushes.append(copy) }
    }

    func request(
        _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer,
        from link: AcceptedServiceLink
    ) {
        visits.state.withLock { $0.requests += 1 }
        let copy = Bytes(Array(body))
        // Only short bodies are numbers. Reading a megabyte as text would stop the loop for seconds in a
        // debug build.
        let number = body.count < 20 ? Int(String(decoding: body, as: UTF8.self)) ?? 0 : 0
        switch method {
        case EchoMethod.echo: link.respond(to: id, copy)
        case EchoMethod.fail: link.fail(id, Self.error)
        case EchoMethod.pushAndEcho:
            link.push(method, copy)
            link.respond(to: id, copy)
        case EchoMethod.later:
            link.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(number))) {
                link.respond(to: id, copy)
            }
        case EchoMethod.close:
            link.respond(to: id, copy)
            link.close()
        case EchoMethod.large: link.respond(to: id, Bytes([UInt8](repeating: 7, count: number)))
        case EchoMethod.largePush: link.push(method, Bytes([UInt8](repeating: 7, count: number)))
        case EchoMethod.timeout: link.respond(to: id, Bytes("\(timeout / .milliseconds(1))"))
        default: break
        }
    }
}
