/// Something that declares keys: a key itself, or a set of keys.
package protocol KeyDeclaring: Sendable {
    var declarations: [KeyDeclaration] { get }
}

extension ConfigurationKey: KeyDeclaring {
    package var declarations: [KeyDeclaration] { [declaration] }
}

/// A set of keys. Each key, and each further set, is a stored property of it. The list of declarations is
/// read from the properties, in their order, so no key can be declared and not listed.
package protocol KeySet: KeyDeclaring {}

extension KeySet {
    package var declarations: [KeyDeclaration] {
        Mirror(reflecting: self).children.flatMap { ($0.value as? any KeyDeclaring)?.declarations ?? [] }
    }

    /// The keys whose new values a running program takes over.
    package var live: [KeyDeclaration] { declarations.filter(\.isLive) }
}

/// The keys of a service, which are read through the type: `configuration[EdgeKeys.listen]`. The type has one
/// value, and a name that isn't a static member of the type is a property of that value.
@dynamicMemberLookup
package protocol ServiceKeys: KeySet {
    static var table: Self { get }
}

extension ServiceKeys {
    package static subscript<Member>(dynamicMember path: KeyPath<Self, Member>) -> Member {
        table[keyPath: path]
    }
}
