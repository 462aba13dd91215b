internal import Synchronization

/// The configuration of a running program, and the parts of the program that take over a new one.
///
/// A new configuration is taken over as a whole or not at all. First every part checks what it would need of
/// it, such as a certificate. The first part that throws leaves everything as it is.
package final class LiveConfiguration: Sendable {
    /// Checks a new configuration, and returns the step that takes it over. The step can't fail.
    package typealias Taking = @Sendable (Configuration) throws -> @Sendable () -> Void

    private struct State {
        var present: Configuration
        var takings: [Taking] = []
        var liveKeys: Set<String> = []
    }

    private let state: Mutex<State>
    private let rules: [ConfigurationRule]

    package init(_ configuration: Configuration, rules: [ConfigurationRule] = []) {
        state = Mutex(State(present: configuration))
        self.rules = rules
    }

    package var present: Configuration { state.withLock { $0.present } }

    /// Has a part take over new values of the keys while the program runs. Keys that no part names need a
    /// restart.
    package func onChange(of keys: [KeyDeclaration], _ taking: @escaping Taking) {
        state.withLock { state in
            state.liveKeys.formUnion(keys.map(\.name))
            state.takings.append(taking)
        }
    }

    /// What a new configuration has changed.
    package struct Change: Sendable, Hashable {
        /// The names of the keys whose new values are in use.
        package var taken: [String] = []
        /// The names of the keys whose new values need a restart.
        package var postponed: [String] = []
    }

    /// Takes over a new configuration. Parts also read again the files that their keys name, so this does
    /// something when no value is new.
    ///
    /// - Parameter renewedFiles: files that have another content than before; their keys have changed, too.
    /// - Throws: `ConfigurationError` if the values that would be in use break a rule: keys that need a
    ///   restart keep their old values, which may not go with the new ones.
    package func change(to next: Configuration, renewedFiles: Set<String> = []) throws -> Change {
        let (present, takings, liveKeys) = state.withLock { ($0.present, $0.takings, $0.liveKeys) }
        let different = next.differences(from: present)
        let changed = next.schema.keys.map(\.name).filter { name in
            different.contains(name) || !renewedFiles.isDisjoint(with: next.filesNamed(by: name))
        }
        let merged = present.with(liveKeys, of: next)
        let problems = rules.compactMap { $0.problem(merged) }
        guard problems.isEmpty else { throw ConfigurationError(problems.map(\.needingRestart)) }
        let steps = try takings.map { try $0(merged) }
        state.withLock { $0.present = merged }
        for step in steps { step() }
        return Change(
            taken: changed.filter(liveKeys.contains), postponed: changed.filter { !liveKeys.contains($0) })
    }
}

extension ConfigurationProblem {
    /// As a problem of new values beside old ones, which a running program can't replace. The new ones alone
    /// kept the rules when they were loaded.
    fileprivate var needingRestart: ConfigurationProblem {
        ConfigurationProblem(
            subject, from: origin, reason + "; a restart takes over all of the new configuration")
    }
}

extension Configuration {
    /// The names of the keys with other values than before, in the order of the schema.
    func differences(from other: Configuration) -> [String] {
        schema.keys.map(\.name).filter { settings[$0]?.value != other.settings[$0]?.value }
    }

    /// The files that a key names, itself or in its records.
    func filesNamed(by name: String) -> [String] {
        guard let key = schema.key(named: name) else { return [] }
        return filesOfRecords(key) + (key.isFile ? [fileNamed(by: key)].compactMap(\.self) : [])
    }

    /// This configuration with some values of another one.
    func with(_ names: Set<String>, of next: Configuration) -> Configuration {
        var settings = settings
        for name in names { settings[name] = next.settings[name] }
        return Configuration(schema: schema, settings: settings, origins: next.origins)
    }
}
