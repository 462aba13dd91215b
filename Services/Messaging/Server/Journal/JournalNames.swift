/// Under which keys the journal of a shard lies, and who writes it.
struct JournalNames: Sendable {
    /// Both lie in one slot, so that one script can use them. The shards lie on all masters of a Cluster.
    let head: String
    let batches: String
    /// What all shards share.
    let era: String
    let node: String
    let layout: String
    let shard: UInt64
    /// How many epochs the shards before this one have.
    let epochsBefore: UInt64

    /// - Parameter node: the name of this process, which no other process has.
    init(prefix: String, of shard: BrokerLimits, node: String, layout: String) {
        head = "{\(prefix)journal:\(shard.shard)}:head"
        batches = "{\(prefix)journal:\(shard.shard)}:batches"
        era = "{\(prefix)journal}:era"
        self.shard = UInt64(shard.shard)
        epochsBefore = shard.firstEpoch(in: 0)
        self.node = node
        self.layout = layout
    }
}
