// YAML stands apart from RTMServiceKit, which is in RTMTestKit, too: so no app fetches Yams.

package import RTMServiceKit
internal import Yams

extension FileNode {
    /// Limit: bytes of a configuration file.
    private static let fileBytesMax = 1 << 20
    /// Limit: levels of sections. It also stops aliases that refer to themselves.
    private static let depthMax = 16

    /// Parses YAML; an empty file is an empty map.
    package static func yaml(_ text: String) throws(ValueRefusal) -> FileNode {
        guard text.utf8.count <= fileBytesMax else {
            throw ValueRefusal("has \(text.utf8.count) bytes, \(fileBytesMax) are allowed")
        }
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw ValueRefusal(reason(error))
        }
        guard let root else { return .map([]) }
        switch try convert(root, depth: 0) {
        case .null: return .map([])
        case .map(let entries): return .map(entries)
        case .scalar, .list: throw ValueRefusal("does not begin with a key; write it like `edge:`")
        }
    }

    private static func convert(_ node: Node, depth: Int) throws(ValueRefusal) -> FileNode {
        guard depth < depthMax else { throw ValueRefusal("has more than \(depthMax) levels") }
        switch node {
        case .scalar(let scalar):
            let isNull = scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
            return isNull ? .null : .scalar(scalar.string)
        case .sequence(let sequence):
            var nodes: [FileNode] = []
            for element in sequence { nodes.append(try convert(element, depth: depth + 1)) }
            return .list(nodes)
        case .mapping(let mapping):
            var entries: [Entry] = []
            for (key, value) in mapping {
                let line = key.mark?.line ?? 0
                guard let name = key.scalar?.string else {
                    throw ValueRefusal("has a key in line \(line) that is not a name")
                }
                entries.append(Entry(name: name, line: line, node: try convert(value, depth: depth + 1)))
            }
            return .map(entries)
        case .alias: throw ValueRefusal("has an alias that leads nowhere")
        }
    }

    /// What is wrong with a text that can't be parsed, without the content of its lines: they may hold
    /// secrets.
    private static func reason(_ error: any Error) -> String {
        switch error as? YamlError {
        case .duplicatedKeysInMapping(let keys, let context):
            let place = "in the section that begins in line \(context.mark.line)"
            return "has \(keys.joined(separator: " and ")) more than once \(place); keep one of them"
        case .scanner(_, let problem, let mark, let yaml), .parser(_, let problem, let mark, let yaml),
            .composer(_, let problem, let mark, let yaml):
            let line = yaml.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(mark.line - 1)
            let hasTab = line.first?.prefix { $0 == " " || $0 == "\t" }.contains("\t") == true
            let hint = hasTab ? "; indent with spaces instead of tabs" : ""
            return "is not YAML, as line \(mark.line), column \(mark.column) shows: \(problem)\(hint)"
        default: return "is not YAML: \("\(error)".split(whereSeparator: \.isNewline).joined(separator: " "))"
        }
    }
}

extension ServiceMain {
    /// Our programs read YAML.
    package static var parse: FileNode.Parser { { text throws(ValueRefusal) in try FileNode.yaml(text) } }
}
