package import Foundation
package import RTMServiceKit

/// What the configuration knows of one API key: everything but its secret.
package struct APIKeyRecord: ConfigurationRecord, Hashable {
    /// The part of the key that may be shown: in logs, in lists, and by `GET /v1/keys/self`.
    package var id: String
    /// What `APIKey.hash` makes of the secret.
    package var hash: String
    /// The app that the key is for; `*` is every app.
    package var app: String
    package var scopes: Set<APIScope>
    /// The key is only for channels whose names begin so. Unset: for all channels, and for users.
    package var channels: String?
    /// The key is refused from then on. Unset: it doesn't expire.
    package var expires: Date?

    package init(
        id: String, hash: String, app: String, scopes: Set<APIScope>, channels: String? = nil,
        expires: Date? = nil
    ) {
        self.id = id
        self.hash = hash
        self.app = app
        self.scopes = scopes
        self.channels = channels
        self.expires = expires
    }

    package static let fields = [
        RecordField("id", .string, isRequired: true), RecordField("hash", .string, isRequired: true),
        RecordField("app", .string, isRequired: true), RecordField("scopes", .string, isRequired: true),
        RecordField("channels", .string), RecordField("expires", .string),
    ]

    package init?(_ record: ConfigurationValue.Record) {
        func text(_ name: String) -> String? {
            if case .string(let text)? = record[name] { text } else { nil }
        }
        guard let id = text("id"), let hash = text("hash"), let app = text("app"),
            let scopes = text("scopes").flatMap(APIScope.set)
        else { return nil }
        self.init(id: id, hash: hash, app: app, scopes: scopes, channels: text("channels"))
        if let day = text("expires") {
            guard let date = Self.date(day) else { return nil }
            expires = date
        }
    }

    package var record: ConfigurationValue.Record {
        var record: ConfigurationValue.Record = [
            "id": .string(id), "hash": .string(hash), "app": .string(app),
            "scopes": .string(APIScope.text(scopes)),
        ]
        if let channels { record["channels"] = .string(channels) }
        if let expires { record["expires"] = .string(Self.day.format(expires)) }
        return record
    }

    private static var day: Date.ISO8601FormatStyle { .iso8601.year().month().day() }

    /// The beginning of a day, in UTC.
    package static func date(_ text: String) -> Date? { try? day.parse(text) }
}

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
