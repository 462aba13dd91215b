/// Which channels and users the holder of an RTM2 service may read and write.
///
/// What is not listed is not allowed. A name is matched byte by byte: no patterns, and no two spellings of
/// one character, which Swift's `==` would take for the same.
package struct TokenPermissions: Sendable, Hashable {
    package enum Resource: UInt16, Sendable, CaseIterable {
        case messageChannels = 0
        case streamChannels = 1
        case groupChannels = 2
        case serverGroups = 3
        case users = 4
    }

    package enum Access: UInt16, Sendable, CaseIterable {
        /// To subscribe and to query.
        case read = 0
        /// To publish and to set.
        case write = 1
    }

    /// Names by number of the resource and number of the access; numbers of later versions are kept.
    package var lists: [UInt16: [UInt16: [String]]]

    package init(_ lists: [UInt16: [UInt16: [String]]] = [:]) { self.lists = lists }

    package func allows(
        _ access: Access, to resource: Resource, named name: some Sequence<UInt8>
    ) -> Bool {
        lists[resource.rawValue]?[access.rawValue]?.contains { $0.utf8.elementsEqual(name) } ?? false
    }
}
