/// A rule that every configuration of a service must keep beyond the kinds of its values.
package struct ConfigurationRule: Sendable {
    /// Gives nil when the rule holds.
    let problem: @Sendable (Configuration) -> ConfigurationProblem?

    /// A value that is of no use without others.
    ///
    /// - Parameters:
    ///   - others: the keys that have to be set.
    ///   - needs: whether this value needs them.
    package init<Value, Other>(
        _ key: ConfigurationKey<Value>, needs others: [ConfigurationKey<Other?>],
        when needs: @escaping @Sendable (Value) -> Bool
    ) {
        self.init(key) { value, configuration in
            let missing = others.filter { configuration[$0] == nil }.map(\.declaration.name)
            guard needs(value), !missing.isEmpty else { return nil }
            let names = others.map(\.declaration.name).joined(separator: " and ")
            let unset = missing.joined(separator: " and ")
            let verb = missing.count == 1 ? "is" : "are"
            return "needs \(names), and \(unset) \(verb) not set. Set \(unset), or leave "
                + "\(key.declaration.name) out"
        }
    }

    /// A rule about the value of one key that only the service knows.
    ///
    /// - Parameter refusal: nil for an allowed value, otherwise a clause that follows "the value": "has no
    ///   digits". It must not show a secret.
    package init<Value>(
        _ key: ConfigurationKey<Value>, refusal: @escaping @Sendable (Value) -> String?
    ) {
        problem = { configuration in
            refusal(configuration[key]).map {
                .init(key.declaration.name, from: "\(configuration.origin(of: key))", "the value \($0)")
            }
        }
    }

    /// A relation between the value of one key and other values.
    ///
    /// - Parameter refusal: nil for an allowed value, otherwise a clause that follows "the value". It names
    ///   the other key, its value, and what to change.
    package init<Value>(
        _ key: ConfigurationKey<Value>, refusal: @escaping @Sendable (Value, Configuration) -> String?
    ) {
        problem = { configuration in
            refusal(configuration[key], configuration).map {
                .init(key.declaration.name, from: "\(configuration.origin(of: key))", "the value \($0)")
            }
        }
    }
}

// MARK: - Relations between timings

extension ConfigurationRule {
    /// A time must be at least as long as a time that no key sets.
    ///
    /// - Parameters:
    ///   - name: what has that time: "the resume window".
    ///   - reason: a clause that names what goes wrong otherwise.
    package init(
        _ key: ConfigurationKey<Duration>, isAtLeast least: Duration, of name: String, because reason: String
    ) {
        self.init(key) { value in
            guard value < least else { return nil }
            let (value, least) = (UnitText.duration(value), UnitText.duration(least))
            return "\(value) is shorter than \(name), which is \(least): \(reason). "
                + "Set \(key.declaration.name) to at least \(least)"
        }
    }

    /// A time must be at least a multiple of another key's time.
    ///
    /// - Parameter applies: whether the relation matters in this configuration.
    package init(
        _ key: ConfigurationKey<Duration>, isAtLeast factor: Int = 1, times other: ConfigurationKey<Duration>,
        because reason: String, when applies: @escaping @Sendable (Configuration) -> Bool = { _ in true }
    ) {
        self.init(key) { value, configuration in
            let otherValue = configuration[other]
            guard value < otherValue * factor, applies(configuration) else { return nil }
            return Self.tooShort(
                key, value, for: other.declaration.name, UnitText.duration(otherValue),
                least: otherValue * factor, because: reason)
        }
    }

    /// The clause that refuses a time, with both keys, both values, and what to change.
    package static func tooShort(
        _ key: ConfigurationKey<Duration>, _ value: Duration, for other: String, _ otherValue: String,
        least: Duration, because reason: String
    ) -> String {
        "\(UnitText.duration(value)) is too short for \(other), which is \(otherValue): \(reason). "
            + "Set \(key.declaration.name) to at least \(UnitText.duration(least)), or lower \(other)"
    }
}
