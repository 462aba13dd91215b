import RTMClient

/// What is measured: how many publishers there are, how many subscribers each of them has, and how fast they
/// send.
struct BenchPlan: Sendable, Hashable {
    enum Shape: Sendable, Hashable {
        /// One publisher, with this many subscribers on its channel.
        case fanOut(Int)
        /// This many publishers, each with one subscriber on a channel of its own.
        case pairs(Int)
    }

    var shape: Shape
    /// Bytes of each message; at least `BenchMessage.bytesMin`.
    var payloadBytes = 128
    /// How many messages of one publisher are on their way. A message is on its way until the server has
    /// acknowledged it and every subscriber has it. So no queue of the server can overflow, and a lost
    /// message is really lost.
    var window = 8
    /// How long messages are sent. The bench waits for the messages that are on their way at the end.
    var duration: Duration = .seconds(5)

    var publishers: Int {
        switch shape {
        case .fanOut: 1
        case .pairs(let count): count
        }
    }

    /// How many subscribers one publisher has.
    var subscribersEach: Int {
        switch shape {
        case .fanOut(let count): count
        case .pairs: 1
        }
    }

    var name: String {
        switch shape {
        case .fanOut: "fanOut"
        case .pairs: "pairs"
        }
    }
}
