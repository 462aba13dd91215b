import Foundation

/// What a message has, whether it has just arrived (``MessageEvent``) or comes from the history
/// (``HistoryMessage``).
public protocol RTMMessage: Timestamped {
    /// What the message carries.
    var payload: MessagePayload { get }
    /// The user id of the sender.
    var publisher: String { get }
    /// The type that the publisher gave the message, or an empty text.
    var customType: String { get }
}

extension MessageEvent: RTMMessage {}
extension HistoryMessage: RTMMessage {}

extension RTMMessage {
    /// The text that was published. `nil` for bytes.
    public var text: String? { payload.asText }

    /// The value that somebody published with ``RTMClient/publish(json:to:customType:storeInHistory:id:)``.
    ///
    /// - Throws: `DecodingError` if the message carries something else, or a stored message can't be
    ///   decrypted: its payload is empty then.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        let json =
            switch payload {
            case .text(let text): Data(text.utf8)
            case .data(let data): data
            }
        return try JSONDecoder().decode(type, from: json)
    }
}

extension OutboxMessage {
    /// The text that is to be published. `nil` for bytes.
    public var text: String? { payload.asText }
}

extension MessagePayload {
    fileprivate var asText: String? { if case .text(let text) = self { text } else { nil } }
}
