import Testing

@testable import RTMRedis

@Suite("Slots of a Redis Cluster")
struct HashSlotTests {
    @Test("the checksum and the slots are those of the specification")
    func vectors() {
        #expect(HashSlot.checksum(of: "123456789") == 0x31C3)
        #expect(HashSlot.of("foo") == 12_182)
        #expect(HashSlot.of("bar") == 5_061)
        #expect(HashSlot.of("") == 0)
    }

    @Test("only what lies between the first braces counts, unless that is nothing")
    func tags() {
        #expect(HashSlot.of("{user1000}.following") == HashSlot.of("user1000"))
        #expect(HashSlot.of("foo{{bar}}zap") == HashSlot.of("{bar"))
        #expect(HashSlot.of("foo{bar}{zap}") == HashSlot.of("bar"))
        #expect(HashSlot.of("foo{}{bar}") == Int(HashSlot.checksum(of: "foo{}{bar}")) % HashSlot.count)
        #expect(HashSlot.of("foo}{") == Int(HashSlot.checksum(of: "foo}{")) % HashSlot.count)
    }
}
