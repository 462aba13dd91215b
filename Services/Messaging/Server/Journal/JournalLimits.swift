/// How long and how much a journal keeps, and how often its leader prolongs its lease.
struct JournalLimits: Sendable {
    /// How long a leader may be silent, in milliseconds.
    var lease: UInt64
    /// How long a batch is kept, in milliseconds.
    var retention: UInt64
    /// How many bytes of batches are kept.
    var bytesMax: Int
    /// How many bytes may wait for Redis. With more, messages are refused.
    var backlogMax: Int
    /// How long a node may need to reach a Redis that has returned, in milliseconds.
    var reconnect: UInt64 = 0

    /// When Redis may have lost something, a leader that lives gets so many milliseconds to report it.
    var lossReportTime: UInt64 { 2 * lease + reconnect }

    /// After so many milliseconds without a batch the lease is prolonged.
    var renewal: UInt64 { lease / 4 }
    /// The milliseconds between two attempts of a follower to become the leader.
    var attemptInterval: UInt64 { min(50, lease / 4) }
}
