/// Which channels and users the holder of an RTM2 service may read and write.
///
/// Everything that is not listed is forbidden. Names are compared byte by byte: there are no patterns, and
/// two spellings of one character differ, which Swift's `==` would treat as equal.
package struct TokenPermissions: Sendable, Hashable {
    package enum Resource: UInt16, Sendable, CaseIterable {
        case messageChannels = 0
        case streamChannels = 1
        case groupChannels = 2
        case serverGroups = 3
        case users = 4
    }

    package enum Access: UInt16, Sendable, CaseIterable {
        /// Permission to subscribe and to query.
        case read = 0
        /// Permission to publish and to set.
        case write = 1
    }

    /// Names by the number of the resource and the number of the access. Numbers of later versions are kept.
    package var lists: [UInt16: [UInt16: [String]]]

    package init(_ lists: [UInt16: [UInt16: [String]]] = [:]) { self.lists = lists }

    package func allows(
        _ access: Access, to resource: Resource, named name: some Sequence<UInt8>
    ) -> Bool {
        lists[resource.rawValue]?[access.rawValue]?.contains { $0.utf8.elementsEqual(name) } ?? false
    }
}
