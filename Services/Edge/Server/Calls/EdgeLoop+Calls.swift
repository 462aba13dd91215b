import NIOCore
import RTMModel
import RTMPresenceClient
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// Requests that presence or storage answers. The edge checks who asks, how often and what about, passes the
/// client's bytes on and the service's bytes back; what they say it doesn't read.
extension EdgeLoop {
    /// What has to be remembered of a call until its answer.
    struct ForwardedCall {
        let session: Session
        let requestID: UInt64
        let kind: ClientCall.Kind
        /// Of an acquire or a release.
        var lock: LockName?
    }

    func call(_ session: Session, _ call: ClientCall, _ requestID: UInt64) {
        // What was published before it comes before what it does.
        sendRun()
        var context = ForwardedCall(session: session, requestID: requestID, kind: call.kind)
        do throws(RTMError) {
            try session.rates.call(call, session.application.rates, now: endOfTurn.now)
            try session.check(call)
            if call.kind == .acquireLock || call.kind == .releaseLock {
                context.lock = lockName(of: call, for: session)
            }
            if call.kind == .acquireLock { try beginAcquire(session, context.lock) }
        } catch {
            return refuse(context, error)
        }
        let request = CallRequest(caller: session.caller, request: call.request)
        switch call.kind.service {
        case .presence: presence.call(request, context: context)
        case .metadata, .locks, .history: storage.call(request, context: context)
        }
    }

    func presenceCalled(_ call: ForwardedCall, _ outcome: Result<CallResponse, ServiceLinkRequestFailure>) {
        switch outcome {
        case .success(let response): answer(call, response.response)
        case .failure(let failure): refuse(call, call.kind.error(failure))
        }
    }

    func storageCalled(
        _ call: ForwardedCall, _ outcome: Result<StorageCallResponse, ServiceLinkRequestFailure>
    ) {
        if case .success(let response) = outcome, response.ticket != 0, response.response.isEmpty {
            return wait(call, response.ticket)
        }
        if call.kind == .acquireLock { call.session.locks?.acquires -= 1 }
        switch outcome {
        case .success(let response):
            noteLock(of: call, refusal: nil)
            answer(call, response.response)
        case .failure(let failure):
            let error = call.kind.error(failure)
            noteLock(of: call, refusal: error)
            refuse(call, error)
        }
    }

    func answer(_ call: ForwardedCall, _ response: WireText) {
        guard !response.isEmpty else {
            return refuse(call, RTMError(.serviceNotSupport, "the service's answer is empty"))
        }
        metrics.callAnswered(call.kind.service)
        call.session.write { CallAnswer(answering: call.requestID, response).encodeFrame(into: &$0) }
    }

    func refuse(_ call: ForwardedCall, _ error: RTMError) {
        metrics.callRefused(call.kind.service)
        call.session.answer(call.requestID, error)
    }
}

extension ClientCall {
    /// Who answers, and which codes say that it doesn't.
    enum Service: String, Sendable, CaseIterable {
        case presence, metadata, locks, history
    }
}

extension ClientCall.Kind {
    var service: ClientCall.Service {
        switch self {
        case .whoNow, .whereNow, .setState, .getState, .removeState: .presence
        case .writeMetadata, .getMetadata: .metadata
        case .setLock, .removeLock, .acquireLock, .releaseLock, .revokeLock, .getLocks: .locks
        case .getHistory: .history
        }
    }

    /// Whether it changes nothing.
    var isQuery: Bool {
        switch self {
        case .whoNow, .whereNow, .getState, .getMetadata, .getLocks, .getHistory: true
        case .setState, .removeState, .writeMetadata, .setLock, .removeLock, .acquireLock, .releaseLock,
            .revokeLock:
            false
        }
    }

    /// What the client gets when the service doesn't answer; every such error says when to try again.
    func error(_ failure: ServiceLinkRequestFailure) -> RTMError {
        let codes: (failed: ErrorCode, timeout: ErrorCode) =
            switch service {
            case .presence: (.presenceOperationFailed, .presenceOperationTimeout)
            case .metadata: (.storageNotAvailable, .storageOperationTimeout)
            case .locks: (.lockNotAvailable, .lockOperationTimeout)
            case .history: (.historyNotAvailable, .historyOperationTimeout)
            }
        var error = RTMError(failure, codes.failed, timeout: codes.timeout)
        if case .refused = failure { return error }
        error.retryAfter = error.retryAfter ?? .seconds(1)
        return error
    }
}
