public import Foundation
public import RTMModel

/// An app may show the error as it is. `localizedDescription` is the reason, which is written in English.
extension RTMError: LocalizedError {
    public var errorDescription: String? { reason }
}
