import NIOCore
import RTMMessagingServer
import RTMModel
import RTMWire

/// The steps in messaging: an entry gets its place in its log.
let logCases = [
    MicroCase(name: "log/publish", batch: 4_000, outcome: 1) { Publish(messages: 1, channels: 1) },
    MicroCase(name: "log/publish-of-8", batch: 1_000, outcome: 8) { Publish(messages: 8, channels: 1) },
    MicroCase(name: "log/publish-1000-channels", batch: 4_000, outcome: 1) {
        Publish(messages: 1, channels: 1_000)
    },
]

/// The tail is full before anything is counted, so that it uses its memory again.
private let limits = BrokerLimits(
    ageMax: 150_000, catchUpEntriesMax: 8_192, catchUpBytesMax: 1 << 22, idleMax: 150_000,
    channelsMax: 1_000_000, tailBytesMax: 1 << 20)

/// Turns the request of publishes into entries. The lookup of the channel is included.
private struct Publish: Step {
    private var broker = Broker(limits: limits, firstEpoch: 1)
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
