import RTMModel
import RTMServiceLink
import Testing

@Suite("The shard of a channel at storage") struct StorageShardNumberTests {
    @Test("channels spread evenly over the shards, and an app's own things lie in one of them")
    func even() {
        var counts = [Int](repeating: 0, count: 8)
        for number in 0..<8_000 {
            counts[ChannelKey(appID: "app", type: .message, name: "room-\(number)").storageShard(among: 8)] +=
                1
        }
        #expect(counts.allSatisfy { (900...1_100).contains($0) }, "\(counts)")
    }

    /// SQL computes the same numbers, and so do programs of other versions.
    @Test("the function itself")
    func vectors() {
        let channels = [
            ChannelKey(appID: "app", type: .message, name: "lobby"), .app("app"),
            ChannelKey(appID: "app", type: .stream, name: "stage"),
            ChannelKey(appID: "äpp", type: .user, name: "zoë"),
        ]
        #expect(channels.map { $0.storageShard(among: 4) } == [0, 3, 1, 2])
        #expect(channels.map { $0.storageShard(among: 7) } == [2, 2, 2, 6])
        #expect(channels.map { $0.storageShard(among: 1) } == [0, 0, 0, 0])
    }
}
