import NIOCore
import RTMMessagingServer
import RTMModel
import RTMWire

/// The steps in messaging: an entry gets its place in its log.
let logCases = [
    MicroCase(name: "log/append", batch: 4_000, outcome: 1) { Append() },
    MicroCase(name: "log/publish", batch: 4_000, outcome: 1) { Publish(messages: 1, channels: 1) },
    MicroCase(name: "log/publish-of-8", batch: 1_000, outcome: 8) { Publish(messages: 8, channels: 1) },
    MicroCase(name: "log/publish-1000-channels", batch: 4_000, outcome: 1) {
        Publish(messages: 1, channels: 1_000)
    },
]

/// The tails are full before anything is counted, so that every new entry pushes an old one out.
private let retention = ChannelLog.Retention(entriesMax: 8, bytesMax: 1 << 20, ageMax: 150_000)

/// Appends to the log alone. The frame that it is given is encoded beforehand.
private struct Append: Step {
    private var log = ChannelLog(epoch: 1, now: Sample.timestamp)
    private let messages = Sample.messages(1)

    mutating func perform(_ count: Int) -> Int {
        let frame = Sample.publication
        let before = log.head
        Sample.withPublishRequest(of: messages, 1) { request in
            for _ in 0..<count {
                _ = log.append(request.messages, session: 1 << 40, feature: .message, now: Sample.timestamp) {
                    _, _, _, frames in frames.writeImmutableBuffer(frame)
                }
                log.trim(to: retention, now: Sample.timestamp)
            }
        }
        return Int(log.head - before)
    }
}

/// Turns the request of publishes into entries. The lookup of the channel is included.
private struct Publish: Step {
    private var broker = EmbeddedBroker(
        limits: .init(retention: retention, idleMax: 150_000, channelsMax: 1_000_000), firstEpoch: 1)
    private let names: [String]
    private let messages: ByteBuffer
    private let messageCount: Int
    private var next = 0

    init(messages: Int, channels: Int) {
        names = (0..<channels).map { "\(Sample.channel)-\($0)" }
        self.messages = Sample.messages(messages)
        messageCount = messages
    }

    mutating func perform(_ count: Int) -> Int {
        var appended = 0
        for _ in 0..<count {
            next = (next + 1) % names.count
            Sample.withPublishRequest(of: messages, messageCount, to: names[next]) { request in
                appended += (try? broker.publish(request, now: Sample.timestamp))?.entries.count ?? 0
            }
        }
        return appended
    }
}
