/// The content of a configuration file at one place, whatever language the file is written in.
///
/// Scalars keep their written text. The kind of the key decides what it means (`ValueKind`), not YAML's
/// guesses about `yes`, `1e3` or `0x10`.
package indirect enum FileNode: Hashable, Sendable {
    case null
    case scalar(String)
    case list([FileNode])
    case map([Entry])

    package struct Entry: Hashable, Sendable {
        let name: String
        let line: Int
        let node: FileNode

        package init(name: String, line: Int, node: FileNode) {
            self.name = name
            self.line = line
            self.node = node
        }
    }

    /// Reads the text of a file into its root. The refusal's sentence begins with the file.
    package typealias Parser = @Sendable (_ text: String) throws(ValueRefusal) -> FileNode
}
