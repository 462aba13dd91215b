// Messages that carry a value of the app's own, as JSON.

import Foundation
import RTMModel

extension RTMClient {
    /// Publishes a value as a text of JSON. ``MessageEvent/decoded(as:)`` makes the value of it again.
    ///
    /// - Throws: `.invalidParameter` (-10014) if the value can't be encoded, and what
    ///   ``publish(_:to:customType:storeInHistory:)-(String,_,_,_)`` throws.
    @discardableResult
    public func publish(
        json value: some Encodable, to destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false
    ) async throws(RTMError) -> PublishReceipt {
        let text: String
        do {
            text = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        } catch {
            throw RTMError(.invalidParameter, "the value can't be encoded: \(error)")
                .with(operation: .publish)
        }
        return try await publish(
            text, to: destination, customType: customType, storeInHistory: storeInHistory)
    }
}

extension MessageEvent {
    /// The value that somebody published with ``RTMClient/publish(json:to:customType:storeInHistory:)``.
    ///
    /// - Throws: `DecodingError` if the message carries something else.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        let json =
            switch payload {
            case .text(let text): Data(text.utf8)
            case .data(let data): data
            }
        return try JSONDecoder().decode(type, from: json)
    }
}
