/// Which build this is.
package enum BuildInformation {
    package static let version = "0.1.0"

    package static let isOptimized: Bool = {
        #if DEBUG
            false
        #else
            true
        #endif
    }()

    /// The body of `/version`.
    static func json(program: String) -> String {
        JSONText.object([
            ("name", JSONText.quoted(program)), ("version", JSONText.quoted(version)),
            ("optimized", "\(isOptimized)"),
        ])
    }
}
