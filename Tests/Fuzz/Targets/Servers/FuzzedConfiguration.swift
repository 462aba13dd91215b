import Foundation
import RTMConfigurationFile
import RTMEdgeServer
import RTMGatewayServer
import RTMMessagingServer
import RTMPresenceServer
import RTMServiceKit
import RTMStorageServer
import RTMWebhookCall

/// The first byte chooses: a file as it is, or one with numbers at the ends of what their keys allow, and
/// behind them. What is behind an end has to be refused, with the key and the end.
enum FuzzedConfiguration {
    /// All keys of all services, those that have no meaning beside others included.
    private static let program = ServiceProgram(
        section: "fuzz", summary: "All services.",
        services: [
            MessagingDefinition.service, PresenceDefinition.service, StorageDefinition.service(),
            EdgeDefinition.service(hooks: HTTPPublishHook.make, keys: HTTPKeyDownload.make),
            GatewayDefinition.service,
        ],
        admin: HostPort(host: "127.0.0.1", port: 0))

    /// A key that was given a value, and what a refusal has to name if the value is behind an end.
    private struct Given {
        let key: KeyDeclaration
        let node: FileNode
        let end: String?
        /// Rules are asked when every value by itself can be read.
        var isByRule = false
    }

    private struct NoSuchFile: Error {}

    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        guard let choice = bytes.first else { return }
        guard choice % 4 > 0 else {
            let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
            return try check([]) { _ throws(ValueRefusal) in try FileNode.yaml(text) }
        }
        var given: [String: Given] = [:]
        // Which key, which value, and of a record which field.
        var rest = bytes.dropFirst()
        while rest.count >= 4 {
            let entry = rest.prefix(4).map { Int($0) }
            let key = program.schema.keys[(entry[0] << 8 | entry[1]) % program.schema.keys.count]
            given[key.name] = value(of: key, entry[2], field: entry[3])
            rest = rest.dropFirst(4)
        }
        let all = Array(given.values)
        let root = node(all.map { (path: $0.key.name.split(separator: ".")[...], node: $0.node) })
        try check(all) { _ throws(ValueRefusal) in root }
    }

    private static func check(_ given: [Given], _ parse: @escaping FileNode.Parser) throws(Disagreement) {
        let problems = program.problems(["--config", "file"], parse: parse) { path in
            guard path == "file" else { throw NoSuchFile() }
            return ""
        }
        let names = program.schema.keys.map(\.name)
        let hasUnreadable = given.contains { $0.end != nil && !$0.isByRule }
        for given in given {
            guard let end = given.end, !given.isByRule || !hasUnreadable else { continue }
            try Disagreement.unless(
                problems.contains { $0.hasPrefix(given.key.name + " (") && $0.contains(end) },
                "\(given.key.name): \(given.node) isn't refused with \(end): \(problems)")
        }
        // A file that is read as nodes has no keys but those of the program.
        guard !given.isEmpty else { return }
        for problem in problems {
            try Disagreement.unless(
                names.contains { problem.hasPrefix($0 + " (") || problem.hasPrefix($0 + ": ") },
                "a refusal names no key: \(problem)")
        }
    }

    /// Sections within sections.
    private static func node(_ values: [(path: ArraySlice<Substring>, node: FileNode)]) -> FileNode {
        let sections = Dictionary(grouping: values) { $0.path.first ?? "" }
        return .map(
            sections.sorted { $0.key < $1.key }.map { name, values in
                let isKey = values.count == 1 && values[0].path.count == 1
                let inner = isKey ? values[0].node : node(values.map { ($0.path.dropFirst(), $0.node) })
                return FileNode.Entry(name: String(name), line: 1, node: inner)
            })
    }

    // MARK: Values

    private static func value(of key: KeyDeclaration, _ choice: Int, field: Int) -> Given {
        if case .records(let fields, _) = key.kind {
            let (node, end, isByRule) = record(fields, field: field, choice)
            return Given(key: key, node: .list([node]), end: end, isByRule: isByRule)
        }
        let (text, end) = text(of: key.kind, choice)
        return Given(key: key, node: .scalar(text), end: end)
    }

    /// A record with what it needs, and one number at an end.
    private static func record(
        _ fields: [RecordField], field place: Int, _ choice: Int
    ) -> (FileNode, end: String?, isByRule: Bool) {
        let field = fields[place % fields.count]
        var end: String?
        var entries: [FileNode.Entry] = []
        for other in fields where other.isRequired || other == field {
            var text = usual(other)
            if other == field, other.name == "url" {
                (text, end) = url(choice)
            } else if other == field, !other.kind.isText {
                (text, end) = Self.text(of: other.kind, choice)
            }
            entries.append(FileNode.Entry(name: other.name, line: 1, node: .scalar(text)))
        }
        return (.map(entries), end, field.name == "url")
    }

    private static let secret = "whsec_" + Data(repeating: 1, count: 32).base64EncodedString()

    private static func usual(_ field: RecordField) -> String {
        switch field.kind {
        case .secret: secret
        case .string: field.name == "url" ? "https://hook.example/" : "dev"
        default: text(of: field.kind, 0).text
        }
    }

    private static let ports = [1, 65_535, 0, 65_536, -1, 1 << 32, .max]

    private static func url(_ choice: Int) -> (String, end: String?) {
        let port = ports[choice % ports.count]
        return ("https://hook.example:\(port)/", 1...65_535 ~= port ? nil : "1…65535")
    }

    /// - Returns: a value, and the end of the range if it isn't within.
    private static func text(of kind: ValueKind, _ choice: Int) -> (text: String, end: String?) {
        func pick<Value>(_ values: [Value]) -> Value { values[choice % values.count] }
        switch kind {
        case .int(let range):
            let (below, above) = (range.lowerBound.subtracting(1), range.upperBound.adding(1))
            let number = pick([range.lowerBound, range.upperBound, below, above, 0, .min, .max])
            return ("\(number)", range.contains(number) ? nil : kind.allowed)
        case .byteSize(let range):
            let (below, above) = (max(0, range.lowerBound - 1), range.upperBound.adding(1))
            let size = pick([range.lowerBound, range.upperBound, below, above, 0, .max])
            let unit = pick(["", "", "", "", "", "KiB", "TiB"])
            guard unit.isEmpty else { return ("\(size)\(unit)", size == .max ? kind.allowed : nil) }
            return ("\(size)", range.contains(size) ? nil : kind.allowed)
        case .duration(let range):
            let step = Duration.microseconds(1)
            let below = max(.zero, range.lowerBound - step)
            let duration = pick([range.lowerBound, range.upperBound, below, range.upperBound + step, .zero])
            guard choice % 7 > 0 else { return ("99999999999999999999s", kind.allowed) }
            return (UnitText.duration(duration), range.contains(duration) ? nil : kind.allowed)
        case .address:
            let port = pick(ports)
            return ("127.0.0.1:\(port)", 0...65_535 ~= port ? nil : "0…65535")
        case .bool: return (pick(["true", "false"]), nil)
        case .choice(let choices): return (pick(choices), nil)
        case .list: return ("", nil)
        case .string, .secret, .records: return ("dev", nil)
        }
    }
}

extension ValueKind {
    fileprivate var isText: Bool { self == .string || self == .secret }
}

extension Int {
    fileprivate func adding(_ count: Int) -> Int { self > .max - count ? .max : self + count }
    fileprivate func subtracting(_ count: Int) -> Int { self < .min + count ? .min : self - count }
}
