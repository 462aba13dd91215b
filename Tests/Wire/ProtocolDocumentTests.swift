import Foundation
import RTMModel
import RTMProtocol
import SwiftProtobuf
import Testing

/// Authors of other clients work from the pages of protocol, so their content is compared with the schema and
/// the codec: examples byte by byte, tables field by field, codes number by number.
@Suite("The protocol's document")
struct ProtocolDocumentTests {
    // MARK: Examples

    @Test("every example's text encodes to its bytes, and its bytes decode to its text")
    func examples() throws {
        let examples = try Example.all()
        #expect(examples.count >= 20)
        for example in examples {
            let message = try example.message.init(textFormatString: example.text)
            let encoded: [UInt8] = try message.serializedBytes()
            let bytes = example.hasPrefix ? Self.prefix(encoded.count) + encoded : encoded
            #expect(
                example.bytes == bytes, "\(example.text)should have the bytes \(Self.hex(bytes))")
            let decoded = try example.message.init(
                serializedBytes: Array(example.bytes.dropFirst(example.hasPrefix ? 4 : 0)))
            #expect(decoded.isEqualTo(message: message))
        }
    }

    @Test("every kind of frame between a client and an edge, and every kind of entry, has an example")
    func everyKind() throws {
        let texts = try Example.all().map(\.text)
        for name in ["ClientFrame", "ServerFrame", "Publication"] {
            let kinds = try Document.oneofFields(of: name)
            #expect(kinds.count > 3)
            for kind in kinds {
                #expect(
                    texts.contains { $0.contains("\n\(kind) {") || $0.contains("\n  \(kind) {") },
                    "\(name).\(kind) has no example")
            }
        }
    }

    @Test("the bodies of the link examples are the messages shown beside them")
    func nestedBodies() throws {
        let examples = try Example.all()
        let attach = try #require(examples.first { $0.message == Rtm_Service_AttachRequest.self })
        let publication = try #require(examples.first { $0.text.contains("\npublication {") })
        let links = try examples.filter { $0.message == Rtm_Service_ServiceLinkFrame.self }
            .map { try Rtm_Service_ServiceLinkFrame(textFormatString: $0.text) }
        #expect(links.contains { $0.request.method == 1 && Array($0.request.body) == attach.bytes })
        let answer = Rtm_Service_AttachResponse.with {
            $0.position = .with { ($0.epoch, $0.offset) = (4711, 41) }
        }
        let answerBytes: Data = try answer.serializedBytes()
        #expect(links.contains { $0.response.body == answerBytes })
        let push = try #require(examples.first { $0.message == Rtm_Service_DeliveryPush.self })
        let delivery = try Rtm_Service_DeliveryPush(textFormatString: push.text)
        #expect(Array(delivery.frames) == publication.bytes)
    }

    @Test("conformance/vectors.json has every example, with its fields as JSON")
    func vectors() throws {
        let file = Document.root.appending(path: "protocol/conformance/vectors.json")
        let vectors = try Example.all().map { try $0.vector }
        let text = "{\n  \"vectors\": [\n\(vectors.joined(separator: ",\n"))\n  ]\n}\n"
        if ProcessInfo.processInfo.environment["WRITE_VECTORS"] == "1" {
            try Data(text.utf8).write(to: file)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == text, "make write writes it again")
    }

    private static func prefix(_ length: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(length).bigEndian) { Array($0) }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    }

    // MARK: Tables

    /// Messages between the services are described in their `.proto` alone, so they have no table.
    @Test("the document's tables of fields are the messages of the clients' schema")
    func fields() throws {
        let written = Document.fieldTables()
        let schema = try Document.schemaFields()
        #expect(schema.count > 30)
        for (message, fields) in schema where !fields.isEmpty {
            let rows = written[message] ?? []
            #expect(Set(rows) == fields, "the table of \(message)")
            #expect(rows.count == Set(rows).count, "the table of \(message) has a field twice")
        }
        #expect(Set(written.keys).subtracting(schema.keys).isEmpty, "tables of other messages")
    }

    @Test("the table of error codes is the schema's, and its retry column is the API's")
    func errorCodes() throws {
        let row = #/\| (?<number>-?\d+) \| `(?<name>ERROR_\w+)` \| (?<retry>later|no) \|/#
        let rows = Document.lines.compactMap { $0.wholeMatch(of: row)?.output }
        let written = Dictionary(uniqueKeysWithValues: rows.map { (Int($0.number) ?? 1, String($0.name)) })
        let constant = #/^\s*(?<name>ERROR_\w+) = (?<number>-?\d+);/#
        let schema = try Document.schema("client/error").compactMap { $0.firstMatch(of: constant)?.output }
        // One is for clients alone.
        #expect(schema.count == ErrorCode.allCases.count - 1)
        for code in schema { #expect(written[Int(code.number) ?? 1] == String(code.name)) }
        #expect(written.count == schema.count)
        for row in rows {
            let code = try #require(Int(row.number).flatMap(ErrorCode.init(rawValue:)))
            #expect((row.retry == "later") == code.isRetryable, "\(code)")
        }
    }

    /// A code that one of them begins to use, or gives up, has to be announced to clients.
    @Test("the page of errors lists the codes that the services name, and no other")
    func answeredCodes() throws {
        let sources = try Document.sources([
            "Services/Edge/Server", "Services/Messaging/Server", "Services/Presence/Server",
            "Services/Storage/Server", "Shared/AccessToken", "Shared/AppConfiguration",
            "Shared/Model/MetadataWriteRules.swift",
            "Shared/Model/NameRule.swift",
        ])
        // Success doesn't travel, nor does what the edge replaces by a code of its own or reports as 3507.
        let neverSent: Set<ErrorCode> = [.ok, .notConnected, .loginAborted]
        let words = Set(sources.matches(of: #/\.(?<name>\w+)/#).map { String($0.output.name) })
        let named = ErrorCode.allCases.filter { words.contains("\($0)") && !neverSent.contains($0) }
        let listed = Document.lines(of: "errors").prefix { $0 != "## Disconnects" }.compactMap {
            $0.wholeMatch(of: #/\| (?<codes>-1[-\d, to]+) \| .*/#)
        }
        .flatMap { Document.codes($0.output.codes) }
        #expect(Set(listed) == Set(named.map(\.rawValue)))
        #expect(listed.count > 50)
    }

    @Test("the table of disconnects is the schema's")
    func disconnectCodes() throws {
        let row = #/\| (?<number>3\d\d\d) \| (?<name>[a-z ]+) \| .* \|/#
        let constant = #/^\s*DISCONNECT_(?<name>\w+) = (?<number>3\d+);/#
        let written = Document.lines.compactMap { $0.wholeMatch(of: row)?.output }
            .map { "\($0.number) \($0.name)" }
        let schema = try Document.schema("client/session").compactMap { $0.firstMatch(of: constant)?.output }
            .map { "\($0.number) \($0.name.lowercased().replacing("_", with: " "))" }
        #expect(written == schema)
        #expect(schema.count > 10)
    }
}

// MARK: -

/// A message in text format and its bytes, as two fenced blocks of the document.
private struct Example {
    let page: String
    /// The heading above it.
    let section: String
    let message: any Message.Type
    let text: String
    let bytes: [UInt8]
    /// Whether the bytes are a frame with its length, or a message alone.
    let hasPrefix: Bool

    private static let messages: [any Message.Type] = [
        Rtm_Client_ClientFrame.self, Rtm_Client_ServerFrame.self, Rtm_Service_ServiceLinkFrame.self,
        Rtm_Service_AttachRequest.self, Rtm_Service_DeliveryPush.self,
    ]

    static func all() throws -> [Example] { try Document.pages.flatMap(all) }

    private static func all(on page: String) throws -> [Example] {
        let pair =
            #/```textproto\n(?<text># (?<name>[\w.]+)(?<note>.*)\n[^`]*)```\s+```hex\n(?<hex>[^`]*)```/#
        let text = Document.text(of: page)
        let matches = text.matches(of: pair)
        let blocks = text.components(separatedBy: "\n").count { $0 == "```textproto" }
        try #require(matches.count == blocks, "a textproto block without a hex block, or without a name")
        var (section, read) = ("", text.startIndex)
        return try matches.map { match in
            let message = try #require(messages.first { $0.protoMessageName == match.name }, "\(match.name)")
            let heading = text[read..<match.range.lowerBound].matches(of: #/\n##+ (?<title>.*)\n/#).last
            if let heading { section = String(heading.title) }
            read = match.range.upperBound
            return Example(
                page: page, section: section, message: message, text: String(match.text),
                bytes: match.hex.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) },
                hasPrefix: !match.note.contains("without a length prefix"))
        }
    }

    /// An object of conformance/vectors.json.
    var vector: String {
        get throws {
            var options = JSONEncodingOptions()
            options.preserveProtoFieldNames = true
            let fields = try message.init(textFormatString: text).jsonString(options: options)
            let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return """
                    {
                      "page": "\(page)", "section": "\(section)", "message": "\(message.protoMessageName)", \
                "length_prefix": \(hasPrefix),
                      "bytes": "\(hex)",
                      "fields": \(fields)
                    }
                """
        }
    }
}

private enum Document {
    static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// All pages, one after the other.
    static let lines = pages.flatMap(lines)

    /// The pages by name, without "README".
    static let pages: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.filter { $0.hasSuffix(".md") && $0 != "README.md" }.map { String($0.dropLast(3)) }
            .sorted()
    }()

    static func text(of page: String) -> String {
        (try? String(contentsOf: folder.appending(path: "\(page).md"), encoding: .utf8)) ?? ""
    }

    static func lines(of page: String) -> [String] {
        text(of: page).components(separatedBy: "\n")
    }

    private static let folder = root.appending(path: "protocol")

    /// The text of all Swift files in these folders, and of these files.
    static func sources(_ paths: [String]) throws -> String {
        var text = ""
        for path in paths {
            let folder = root.appending(path: path)
            let files =
                FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
                .compactMap { $0 as? URL } ?? []
            for file in (path.hasSuffix(".swift") ? [folder] : files) where file.pathExtension == "swift" {
                text += try String(contentsOf: file, encoding: .utf8)
            }
        }
        return text
    }

    /// "-1, -3 to -5" is -1, -3, -4 and -5.
    static func codes(_ text: Substring) -> [Int] {
        text.components(separatedBy: ", ").flatMap { part in
            let bounds = part.components(separatedBy: " to ").compactMap { Int($0) }
            guard let first = bounds.first, let last = bounds.last, last <= first else { return [Int]() }
            return Array(last...first)
        }
    }

    static func schema(_ name: String) throws -> [String] {
        let file = root.appending(path: "protocol/schema/\(name).proto")
        return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    }

    /// The names of the fields in a message's `oneof`.
    static func oneofFields(of message: String) throws -> [String] {
        let lines = try ["client/frame", "client/publication"].flatMap { try schema($0) }
        let title = lines.firstIndex(of: "message \(message) {")
        let begin = lines[(title ?? lines.endIndex)...].firstIndex { $0.hasPrefix("  oneof ") }
        let field = #/\s+[\w.]+ (?<name>\w+) = \d+;.*/#
        return lines[(begin ?? lines.endIndex)...].dropFirst().prefix { $0 != "  }" }
            .compactMap { $0.wholeMatch(of: field).map { String($0.output.name) } }
    }

    /// The rows below each line that begins with a message's name in bold: "1 request_id uint64". A
    /// message may have parts of its table on several pages, and share one with others that the line names.
    static func fieldTables() -> [String: [String]] {
        let title = #/\*\*`(?<name>\w+)`\*\*/#
        let row = #/\| (?<number>\d+) \| `(?<name>\w+)` \| `(?<type>[\w.]+)`(?:, repeated)? \| .* \|/#
        var tables: [String: [String]] = [:]
        var messages: [String] = []
        for line in lines {
            if line.prefixMatch(of: title) != nil {
                messages = line.matches(of: title).map { String($0.output.name) }
            } else if let match = line.wholeMatch(of: row) {
                for message in messages {
                    tables[message, default: []].append("\(match.number) \(match.name) \(match.type)")
                }
            }
        }
        return tables
    }

    static func schemaFields() throws -> [String: Set<String>] {
        let title = #/message (?<name>\w+) \{.*/#
        let row = #/\s+(?:repeated )?(?<type>[\w.]+) (?<name>\w+) = (?<number>\d+);.*/#
        let names =
            ["frame", "session", "channel", "publication", "presence", "storage", "lock", "history", "error"]
            .map { "client/\($0)" }
        var tables: [String: Set<String>] = [:]
        for name in names {
            var message: String?
            for line in try schema(name) {
                if let match = line.wholeMatch(of: title) {
                    message = String(match.name)
                    tables[String(match.name)] = []
                } else if line.hasPrefix("enum ") {
                    message = nil
                } else if let message, let match = line.wholeMatch(of: row) {
                    tables[message]?.insert("\(match.number) \(match.name) \(match.type)")
                }
            }
        }
        return tables
    }
}
