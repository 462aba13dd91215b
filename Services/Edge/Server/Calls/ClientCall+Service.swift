import RTMModel
import RTMServiceLink
import RTMWire

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

    /// Whether the call changes nothing.
    var isQuery: Bool {
        switch self {
        case .whoNow, .whereNow, .getState, .getMetadata, .getLocks, .getHistory: true
        case .setState, .removeState, .writeMetadata, .setLock, .removeLock, .acquireLock, .releaseLock,
            .revokeLock:
            false
        }
    }

    /// What the client gets if the service doesn't answer. Every such error says when to try again.
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
