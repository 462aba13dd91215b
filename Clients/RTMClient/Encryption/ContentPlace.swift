package import RTMModel

/// Where a content belongs. All of it is authenticated, so that a ciphertext that somebody moves to another
/// place can't be opened there. Pure.
package struct ContentPlace: Sendable, Hashable {
    package enum Kind: UInt8, Sendable {
        case message = 1
        case state = 2
        case metadata = 3
    }

    package var kind: Kind
    package var channelType: ChannelType
    /// For a message to a user and for a user's metadata, the user's id.
    package var channelName: String
    /// The user id of the one who encrypted.
    package var publisher: String
    /// The key of a state or of a metadata item, and the custom type of a message.
    package var item: String

    package init(
        _ kind: Kind, _ channelType: ChannelType, _ channelName: String, publisher: String, item: String
    ) {
        self.kind = kind
        self.channelType = channelType
        self.channelName = channelName
        self.publisher = publisher
        self.item = item
    }

    /// The bytes that are authenticated beside the ciphertext. Each name follows its length, so that no two
    /// places have the same bytes.
    func additionalData(after header: SealHeader, appID: String) -> [UInt8] {
        var bytes: [UInt8] = []
        let names = appID.utf8.count + channelName.utf8.count + publisher.utf8.count + item.utf8.count
        bytes.reserveCapacity(SealHeader.byteCount + 10 + names)
        header.append(to: &bytes)
        bytes.append(kind.rawValue)
        bytes.append(UInt8(truncatingIfNeeded: channelType.rawValue))
        Self.append(appID, to: &bytes)
        Self.append(channelName, to: &bytes)
        Self.append(publisher, to: &bytes)
        Self.append(item, to: &bytes)
        return bytes
    }

    private static func append(_ name: String, to bytes: inout [UInt8]) {
        let count = UInt16(clamping: name.utf8.count)
        bytes.append(UInt8(count >> 8))
        bytes.append(UInt8(truncatingIfNeeded: count))
        bytes.append(contentsOf: name.utf8)
    }
}
