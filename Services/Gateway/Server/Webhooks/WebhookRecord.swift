import Foundation
import RTMCredentials
package import RTMServiceKit
import RTMWire

/// What the configuration says of one webhook.
package struct WebhookRecord: ConfigurationRecord, Hashable {
    package var app: String
    /// Names the webhook in paths and logs, and its position in storage.
    package var name: String
    package var url: String
    /// Signs each request: `whsec_` and Base64 of 24 to 64 bytes.
    package var secret: Secret
    /// The secret before this one, with which requests are signed as well while receivers change over.
    package var secretBefore: Secret?
    /// The types of events; unset: all.
    package var types: String?
    /// Only events of channels whose names begin so; unset: of all channels, and of users.
    package var channels: String?
    /// Events of one request at most.
    package var batch: Int?
    /// Requests at once.
    package var parallel: Int?

    package init(app: String, name: String, url: String, secret: Secret) {
        (self.app, self.name, self.url, self.secret) = (app, name, url, secret)
    }

    package static let fields = [
        RecordField("app", .string, isRequired: true), RecordField("name", .string, isRequired: true),
        RecordField("url", .string, isRequired: true), RecordField("secret", .secret, isRequired: true),
        RecordField("secretBefore", .secret), RecordField("types", .string), RecordField("channels", .string),
        RecordField("batch", .int(1...1_000)), RecordField("parallel", .int(1...64)),
    ]

    package init?(_ record: ConfigurationValue.Record) {
        func text(_ name: String) -> String? {
            if case .string(let text)? = record[name] { text } else { nil }
        }
        guard let app = text("app"), let name = text("name"), let url = text("url"),
            case .secret(let secret)? = record["secret"]
        else { return nil }
        self.init(app: app, name: name, url: url, secret: secret)
        if case .secret(let secret)? = record["secretBefore"] { secretBefore = secret }
        (types, channels) = (text("types"), text("channels"))
        if case .int(let count)? = record["batch"] { batch = count }
        if case .int(let count)? = record["parallel"] { parallel = count }
    }

    package var record: ConfigurationValue.Record {
        var record: ConfigurationValue.Record = [
            "app": .string(app), "name": .string(name), "url": .string(url), "secret": .secret(secret),
        ]
        if let secretBefore { record["secretBefore"] = .secret(secretBefore) }
        if let types { record["types"] = .string(types) }
        if let channels { record["channels"] = .string(channels) }
        if let batch { record["batch"] = .int(batch) }
        if let parallel { record["parallel"] = .int(parallel) }
        return record
    }

    // MARK: What is made of it

    /// The bits of the selected types, as storage takes them; nil if a word is no type.
    var typeBits: UInt32? {
        var bits: UInt32 = 0
        for word in types?.split(separator: "+") ?? [] {
            guard let type = AppEventType.allCases.first(where: { $0.name == word }) else {
                return nil
            }
            bits |= 1 << UInt32(type.rawValue)
        }
        return bits
    }

    /// Nil if the URL is no address of a receiver, or a secret is none.
    var target: WebhookTarget? {
        WebhookTarget(url: url, secrets: [secret, secretBefore].compactMap { $0?.revealed })
    }

    /// What is wrong with the list, as a clause that follows "the value"; nil if nothing is.
    package static func problem(_ records: [WebhookRecord]) -> String? {
        var seen: Set<[String]> = []
        for record in records {
            let name = "has a webhook \"\(record.name)\""
            guard record.name.wholeMatch(of: #/[A-Za-z0-9_-]{1,64}/#) != nil else {
                return "\(name) whose name is not 1 to 64 letters, digits, - and _"
            }
            guard seen.insert([record.app, record.name]).inserted else { return "\(name) twice" }
            guard record.typeBits != nil else {
                let all = AppEventType.allCases.map(\.name).joined(separator: ", ")
                return "\(name) with types that aren't there; there are \(all), joined by +"
            }
            guard record.target != nil else {
                return "\(name) that needs a url such as https://example.com/path, without user, password "
                    + "and # and with a port in 1…65535, and a secret as \"rtm webhook secret\" makes it"
            }
        }
        return nil
    }
}
