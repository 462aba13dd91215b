import NIOCore
import RTMEdgeServer
import RTMModel
import RTMWire

/// The steps in an edge: the entries of a turn are gathered and handed to the sessions that are subscribed.
let fanOutCases = [
    // Each turn brings one entry to each of many channels. This is what finding a channel and its subscriber
    // costs.
    MicroCase(name: "edge/lookup-10000-channels", batch: 10_000, outcome: 1) {
        FanOut(channels: 10_000, subscribers: 1, pushes: 1, entries: 1)
    },
    MicroCase(name: "edge/fan-out-1", batch: 2_000, outcome: 1) {
        FanOut(channels: 1, subscribers: 1, pushes: 1, entries: 1)
    },
    MicroCase(name: "edge/fan-out-100", batch: 200, outcome: 100) {
        FanOut(channels: 1, subscribers: 100, pushes: 1, entries: 1)
    },
    MicroCase(name: "edge/fan-out-1000", batch: 20, outcome: 1_000) {
        FanOut(channels: 1, subscribers: 1_000, pushes: 1, entries: 1)
    },
    // There are four publishers, each with the eight messages of a read.
    MicroCase(name: "edge/fan-out-32-to-100", batch: 50, outcome: 3_200) {
        FanOut(channels: 1, subscribers: 100, pushes: 4, entries: 8)
    },
]

/// One turn of an edge: entries arrive, and then the edge flushes.
private struct FanOut: Step {
    private let pushes: Int
    private let entries: Int
    private let frames: ByteBuffer
    private let interests: [UInt64]
    private var step: FanOutStep
    private var offset: UInt64 = 1
    private var next = 0

    init(channels: Int, subscribers: Int, pushes: Int, entries: Int) {
        self.pushes = pushes
        self.entries = entries
        frames = Sample.publications(entries)
        var step = FanOutStep(subscribersPerChannel: subscribers)
        interests = (0..<channels).map { _ in step.addChannel() }
        self.step = step
    }

    mutating func perform(_ count: Int) -> Int {
        let before = step.deliveries
        for _ in 0..<count {
            next = (next + 1) % interests.count
            for _ in 0..<pushes {
                Sample.withDelivery(of: frames, entries, interest: interests[next], offset: offset) {
                    step.gather($0)
                }
                offset += UInt64(entries)
            }
            step.flush()
        }
        return step.deliveries - before
    }
}
