package import Foundation
package import RTMCredentials
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
        RecordField("id", .string, isRequired: true), RecordField("hash", .secret, isRequired: true),
        RecordField("app", .string, isRequired: true), RecordField("scopes", .string, isRequired: true),
        RecordField("channels", .string), RecordField("expires", .string),
    ]

    package init?(_ record: ConfigurationValue.Record) {
        func text(_ name: String) -> String? {
            if case .string(let text)? = record[name] { text } else { nil }
        }
        guard let id = text("id"), case .secret(let hash)? = record["hash"], Self.isHash(hash.revealed),
            let app = text("app"), let scopes = text("scopes").flatMap(APIScope.set)
        else { return nil }
        self.init(id: id, hash: hash.revealed, app: app, scopes: scopes)
        // In the short form a field between two others can only be left empty.
        if let prefix = text("channels"), !prefix.isEmpty { channels = prefix }
        if let day = text("expires") {
            guard let date = APIKeyEntry.date(day) else { return nil }
            expires = date
        }
    }

    package var record: ConfigurationValue.Record {
        var record: ConfigurationValue.Record = [
            "id": .string(id), "hash": .secret(Secret(hash)), "app": .string(app),
            "scopes": .string(APIScope.text(scopes)),
        ]
        if let channels { record["channels"] = .string(channels) }
        if let expires { record["expires"] = .string(APIKeyEntry.day(expires)) }
        return record
    }

    /// 256 bits in hexadecimal.
    private static func isHash(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
