internal import CBuild
internal import RTMModel

/// Which build this is.
package enum BuildInformation {
    package static let version = Release.version

    /// The commit that the build was made of; "unknown" if it was not made with `make build`.
    package static let commit = String(cString: rtm_build_commit())

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
            ("commit", JSONText.quoted(commit)),
            ("optimized", "\(isOptimized)"),
        ])
    }
}
