import Foundation
import RTMCredentials
import RTMGatewayServer

/// The first byte chooses what the gateway reads the rest as.
enum FuzzedHTTP {
    private static let names: Set<String> = ["channel", "limit", "a"]

    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        guard let choice = bytes.first else { return }
        let rest = Data(bytes.dropFirst())
        let text = String(decoding: rest, as: UTF8.self)
        switch choice % 5 {
        case 0: try query(text)
        case 1:
            guard let cursor = GatewayReading.cursor(text) else { return }
            try Disagreement.unless(
                GatewayReading.cursor(cursor) == cursor, "written and read, the cursor is another")
        case 2:
            guard let key = APIKey(text) else { return }
            try Disagreement.unless(key.text == text, "the key's text is another")
        case 3:
            // A field's value has no controls, and no space at its end.
            guard text.utf8.allSatisfy({ 0x20...0x7E ~= $0 }), text.last != " ",
                let credential = GatewayReading.credentials(text), text.lowercased().hasPrefix("bearer ")
            else { return }
            try Disagreement.unless(text.hasSuffix(credential), "the credential is another text")
        default: try batch(rest)
        }
    }

    /// What was read is read again from another writing of it.
    private static func query(_ text: String) throws(Disagreement) {
        guard let values = GatewayReading.query(text, names) else { return }
        let pairs = values.map { name, value in
            let bytes = value.utf8.map { byte in
                let digits = String(byte, radix: 16)
                return "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
            return "\(name)=\(bytes.joined())"
        }
        try Disagreement.unless(
            GatewayReading.query(pairs.joined(separator: "&"), names) == values,
            "the query reads differently when it is encoded throughout")
    }

    /// A body that is accepted has the same messages for a reader that knows nothing of them.
    private static func batch(_ body: Data) throws(Disagreement) {
        try Disagreement.unless(GatewayReading.isReadAlike(body), "two readers read the batch differently")
        guard let count = GatewayReading.batch(body) else { return }
        let object = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
        let messages = object?["messages"] as? [Any]
        try Disagreement.unless(
            object?.count == 1 && messages?.count == count, "the batch has other messages")
    }
}
