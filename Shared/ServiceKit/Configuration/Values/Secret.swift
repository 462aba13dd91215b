/// A value that must not be seen: every printed form of it is a mask.
package struct Secret: Sendable, Hashable {
    /// The text that is printed instead. A configuration file that still holds it is refused (see
    /// `ConfigurationLoader`).
    package static let mask = "<masked>"

    /// The value itself, for the one place that needs it.
    package let revealed: String

    package init(_ revealed: String) { self.revealed = revealed }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { Self.mask }
    package var debugDescription: String { Self.mask }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
