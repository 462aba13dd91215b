import RTMModel

/// The text by which an event is named, and behind which a reader continues: opaque to backends.
enum EventCursor {
    static func text(_ position: StreamPosition) -> String {
        "\(String(position.epoch, radix: 36))-\(position.offset)"
    }

    /// Nil for what no gateway has written.
    static func position(_ text: String) -> StreamPosition? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = UInt64(parts[0], radix: 36), let offset = UInt64(parts[1]) else {
            return nil
        }
        return StreamPosition(epoch: epoch, offset: offset)
    }
}
