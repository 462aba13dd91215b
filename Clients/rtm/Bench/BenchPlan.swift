import RTMClient

/// What is measured: how many publishers, how many subscribers each of them has, and how hard they try.
struct BenchPlan: Sendable, Hashable {
    enum Shape: Sendable, Hashable {
        /// One publisher, so many subscribers on its channel.
        case fanOut(Int)
        /// So many publishers, each with one subscriber on a channel of its own.
        case pairs(Int)
    }

    var shape: Shape
    /// Bytes of each message. At least `BenchMessage.bytesMin`.
    var payloadBytes = 128
    /// Messages of one publisher that are on their way. One is on its way until the server has acknowledged
    /// it and every subscriber has it, so that no queue of the server can overflow and a lost message is
    /// lost indeed.
    var window = 8
    /// How long messages are sent. What is on its way then is waited for.
    var duration: Duration = .seconds(5)

    var publishers: Int {
        switch shape {
        case .fanOut: 1
        case .pairs(let count): count
        }
    }

    /// Of one publisher.
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
