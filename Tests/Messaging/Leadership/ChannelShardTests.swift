import RTMMessagingClient
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@Suite("The shard of a channel at messaging") struct ChannelShardTests {
    @Test("channels spread evenly over the shards, and never change their shard")
    func channels() {
        var counts = [Int](repeating: 0, count: 8)
        for number in 0..<8_000 {
            let key = ChannelKey(appID: "app", type: .message, name: "room-\(number)")
            let shard = key.shard(among: 8)
            #expect(key.withView { $0.shard(among: 8) } == shard)
            counts[shard] += 1
        }
        #expect(counts.allSatisfy { (900...1_100).contains($0) }, "\(counts)")
        // A test of the function itself: processes of two versions have to find the same shard.
        let names = ["a", "lobby", "ü"].map { ChannelKey(appID: "app", type: .message, name: $0) }
        #expect(names.map { $0.shard(among: 64) } == [27, 56, 17])
        #expect(names.map { $0.shard(among: 1) } == [0, 0, 0])
    }
}
