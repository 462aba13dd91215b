import Logging
import NIOCore
import RTMModel
import RTMServiceLink
import Synchronization
import Testing

/// What a caller receives from its link, with copies of the bodies.
enum CallerEvent: Sendable, Hashable {
    case up(ServiceLinkPeer)
    case down(ServiceLinkDownReason)
    case response(Int, Bytes)
    case failed(Int, RTMError)
    case timedOut(Int)
    case disconnected(Int)
    case push(UInt32, Bytes)
}

/// The calling end under test, together with its delegate, which writes everything down. Requests have a
/// number as context.
final class Caller: ServiceLinkClientDelegate {
    let link: ServiceLinkClient
    private let journal: CallLog
    /// Set while the test calls the link: nothing may come back meanwhile.
    private var isCalling = false

    init(_ link: ServiceLinkClient, journal: CallLog) {
        self.link = link
        self.journal = journal
    }

    func call<Result>(_ body: (ServiceLinkClient) throws -> Result) rethrows -> Result {
        isCalling = true
        defer { isCalling = false }
        return try body(link)
    }

    private func note(_ event: CallerEvent) {
        #expect(!isCalling, "called back from within a call: \(event)")
        journal.append(event)
    }

    func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer) { note(.up(peer)) }
    func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) { note(.down(reason)) }

    func response(
        _ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome
    ) {
        switch outcome {
        case .success(let body): note(.response(context, Bytes(Array(body))))
        case .failed(let error): note(.failed(context, error))
        case .timedOut: note(.timedOut(context))
        case .disconnected: note(.disconnected(context))
        }
    }

    func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer) {
        note(.push(method, Bytes(Array(body))))
    }
}

/// What happened at one end, readable from the test.
final class CallLog: Sendable {
    private let written = Mutex<[CallerEvent]>([])

    func append(_ event: CallerEvent) { written.withLock { $0.append(event) } }
    var events: [CallerEvent] { written.withLock { $0 } }
    var count: Int { written.withLock { $0.count } }

    /// What happened, without the link's own ups and downs.
    var answers: [CallerEvent] {
        events.filter {
            switch $0 {
            case .up, .down: false
            default: true
            }
        }
    }

    var ups: [ServiceLinkPeer] { events.compactMap { if case .up(let peer) = $0 { peer } else { nil } } }
    var downs: [ServiceLinkDownReason] {
        events.compactMap { if case .down(let reason) = $0 { reason } else { nil } }
    }
}
