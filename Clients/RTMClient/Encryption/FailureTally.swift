import RTMModel

/// Collects what of one frame can't be decrypted, so that a big snapshot doesn't become thousands of events.
/// Pure.
struct FailureTally: Sendable {
    private var counts: [DecryptionFailure: (count: Int, publisher: String?)] = [:]
    private var order: [DecryptionFailure] = []

    mutating func add(_ failure: DecryptionFailure, _ publisher: String?) {
        guard let before = counts[failure] else {
            counts[failure] = (1, publisher)
            return order.append(failure)
        }
        counts[failure] = (before.count + 1, before.publisher == publisher ? publisher : nil)
    }

    func events(
        _ content: UndecryptableEvent.Content, _ type: ChannelType, _ name: String
    ) -> [UndecryptableEvent] {
        order.map { failure in
            UndecryptableEvent(
                content: content, failure: failure, count: counts[failure]?.count ?? 0, channelType: type,
                channelName: name, publisher: counts[failure]?.publisher)
        }
    }
}
