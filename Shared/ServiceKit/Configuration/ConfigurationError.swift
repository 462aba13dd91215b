/// One thing that is wrong with a configuration.
package struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    /// The key, or what stands in the place of one.
    package let subject: String
    /// The flag, the variable, or the file and line that the problem came from; nil for a relation between
    /// keys that has no single origin.
    package let origin: String?
    package let reason: String

    package init(_ subject: String, from origin: String?, _ reason: String) {
        self.subject = subject
        self.origin = origin
        self.reason = reason
    }

    package var description: String {
        origin.map { "\(subject) (\($0)): \(reason)" } ?? "\(subject): \(reason)"
    }
}

/// Everything that is wrong with a configuration, so that the operator can correct it in one go.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    package let problems: [ConfigurationProblem]

    /// - Parameter problems: several services of a program may find the same one, which is kept once.
    package init(_ problems: [ConfigurationProblem]) {
        var known: Set<ConfigurationProblem> = []
        self.problems = problems.filter { known.insert($0).inserted }
    }

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
