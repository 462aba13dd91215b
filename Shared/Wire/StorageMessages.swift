package import RTMModel

/// The messages of the storage service (protocol/schema/service/storage.proto).
package enum StorageMethod {
    package static let appendHistory: UInt32 = 1
}

package struct AppendHistoryRequest: WireMessage {
    package let channel: ChannelKey
    package let publisher: String
    package let timestampMilliseconds: UInt64
    package let message: MessageView

    package init(channel: ChannelKey, publisher: String, timestampMilliseconds: UInt64, message: MessageView)
    {
        self.channel = channel
        self.publisher = publisher
        self.timestampMilliseconds = timestampMilliseconds
        self.message = message
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, publisher)
        sink.field(3, timestampMilliseconds)
        sink.field(4, message)
    }
}
