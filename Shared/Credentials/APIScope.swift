/// What a key may do.
package enum APIScope: String, Sendable, CaseIterable, Comparable {
    /// Query history, presence, metadata and locks.
    case read
    /// Publish messages, and change metadata and locks.
    case publish
    /// End sessions, ban users, and lift bans.
    case moderate
    /// All of that, and see the keys.
    case admin

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Nil if one of the words is no scope.
    package static func set(_ text: String) -> Set<APIScope>? {
        var scopes: Set<APIScope> = []
        for word in text.split(separator: "+") {
            guard let scope = APIScope(rawValue: String(word)) else { return nil }
            scopes.insert(scope)
        }
        return scopes.isEmpty ? nil : scopes
    }

    package static func text(_ scopes: Set<APIScope>) -> String {
        scopes.sorted().map(\.rawValue).joined(separator: "+")
    }
}
