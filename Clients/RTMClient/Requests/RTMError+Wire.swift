public import Foundation
public import RTMModel
import RTMProtocol

extension RTMError {
    /// - Parameter unknownCode: what a code counts as that this version doesn't know. Its number is in the
    ///   reason.
    init(_ error: Rtm_Client_Error, unknownCode: ErrorCode) {
        let code = ErrorCode(rawValue: error.code.rawValue)
        let reason = code == nil ? "\(error.reason) (code \(error.code.rawValue))" : error.reason
        self.init(
            code ?? unknownCode, reason,
            retryAfter: error.retryAfterMs > 0 ? .milliseconds(error.retryAfterMs) : nil,
            limit: error.hasLimit ? .init(name: error.limit.name, value: error.limit.value) : nil,
            conflict: error.hasConflict ? .init(error.conflict) : nil)
    }
}

extension RTMError.Conflict {
    init(_ conflict: Rtm_Client_Conflict) {
        self.init(
            majorRevision: conflict.majorRevision, key: conflict.key.isEmpty ? nil : conflict.key,
            revision: conflict.revision)
    }
}

/// An app may show the error as it is. `localizedDescription` is the reason, which is written in English.
extension RTMError: LocalizedError {
    public var errorDescription: String? { reason }
}
