import NIOCore
import RTMModel
import RTMWire

extension Gap {
    /// Messaging lost what lay between: whoever is subscribed is told, nobody is left to guess.
    init(_ key: ChannelKey, _ position: StreamPosition) {
        self.init(channelType: key.type, channel: key.name, position: position)
    }

    var frame: ByteBuffer {
        var frame = ByteBuffer()
        ServerFrame(self).encodeFrame(into: &frame)
        return frame
    }
}
