package import Foundation
import HTTPTypes
import Hummingbird

/// What the gateway reads of a request itself, for `make fuzz`, which sees no more than other rooms do.
package enum GatewayReading {
    /// The values of a query that may have these names; nil if it is refused.
    package static func query(_ text: String, _ names: Set<String>) -> [String: String]? {
        guard let query = try? Query(text, names) else { return nil }
        return names.reduce(into: [:]) { $0[$1] = query[$1] }
    }

    /// The text of the cursor that a text is; nil if it is none.
    package static func cursor(_ text: String) -> String? { PageCursor(text)?.text }

    /// The key or the token of a header `Authorization`; nil if it has none.
    package static func credentials(_ authorization: String) -> String? {
        switch try? Credentials([.authorization: authorization]) {
        case .key(let text)?, .token(let text)?: text
        case nil: nil
        }
    }

    /// How many messages a body of `batch` has; nil if it is refused.
    package static func batch(_ body: Data) -> Int? {
        (try? Request.decode(MessageRoutes.Batch.self, from: Array(body)))?.messages.elements.count
    }

    /// Whether a body of `batch` that the fast reader accepts is the same for the strict one.
    package static func isReadAlike(_ body: Data) -> Bool {
        guard let plain = try? MessageRoutes.Batch.plain(Array(body)) else { return true }
        return plain == (try? Request.decodeStrictly(MessageRoutes.Batch.self, from: Array(body)))
    }
}
