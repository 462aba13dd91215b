// The forms of the versions 2.1, which public apps still use. Each does what the form does that it names.

extension AgoraRtmStorage {
    /// An empty set of metadata. Earlier versions made it here, because theirs lived outside of Swift.
    @available(*, deprecated, message: "use AgoraRtmMetadata()")
    public func createMetadata() -> AgoraRtmMetadata? { AgoraRtmMetadata() }
}

extension AgoraRtmMetadata {
    /// Sets `majorRevision`.
    @available(*, deprecated, message: "set majorRevision")
    public func setMajorRevision(_ revision: Int64) { majorRevision = revision }

    /// Reads `majorRevision`.
    @available(*, deprecated, message: "read majorRevision")
    public func getMajorRevision() -> Int64 { majorRevision }

    /// Adds an item, or replaces the one with the same key.
    @available(*, deprecated, message: "set items")
    public func setMetadataItem(_ item: AgoraRtmMetadataItem) {
        var items = items ?? []
        if let index = items.firstIndex(where: { $0.key == item.key }) {
            items[index] = item
        } else {
            items.append(item)
        }
        self.items = items
    }

    /// Reads `items`; none is an empty list.
    @available(*, deprecated, message: "read items")
    public func getItems() -> [AgoraRtmMetadataItem] { items ?? [] }

    /// Takes all items out; the revision stays.
    @available(*, deprecated, message: "set items to nil")
    public func clear() { items = nil }

    /// Empties the set. A write with it fails with `.storageInvalidMetadataInstance` (-12016) from then on.
    @available(*, deprecated, message: "the object is released by itself")
    public func destroy() {
        items = nil
        isDestroyed = true
    }
}
