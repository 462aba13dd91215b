import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

@Suite("The own states, cached")
struct StateCacheTests {
    private var cache = StateCache()
    private let lobby = ChannelID(type: .message, name: "lobby")
    private let hall = ChannelID(type: .message, name: "hall")

    private func states(_ numbers: Range<Int>) -> [String: String] {
        Dictionary(uniqueKeysWithValues: numbers.map { ("key\($0)", "value") })
    }

    private mutating func hold(_ items: [String: String], in channel: ChannelID) -> RTMError? {
        do throws(RTMError) {
            try cache.hold(items, in: channel, subscribed: [])
            return nil
        } catch {
            return error
        }
    }

    @Test("P-40: a call overwrites what it names and keeps the rest")
    mutating func merge() {
        #expect(hold(["a": "1", "b": "1"], in: lobby) == nil)
        #expect(hold(["b": "2", "c": "2"], in: lobby) == nil)
        #expect(cache.states(in: lobby) == ["a": "1", "b": "2", "c": "2"])
        #expect(cache.states(in: hall) == nil)
    }

    @Test("L-31: 32 states in a channel, the 33rd is -13005 and nothing is set")
    mutating func perChannel() {
        #expect(hold(states(0..<32), in: lobby) == nil)
        #expect(hold(["key0": "other"], in: lobby) == nil)
        let error = hold(states(32..<33), in: lobby)
        #expect(error?.code == .presenceStateCountOverflow)
        #expect(error?.limit == .init(name: "states", value: 32))
        #expect(cache.states(in: lobby)?.count == 32)
    }

    @Test("L-32: 100 states wait in all, the 101st is -13004; subscribed channels don't count")
    mutating func inAll() throws {
        for number in 0..<3 {
            #expect(hold(states(0..<32), in: ChannelID(type: .message, name: "c\(number)")) == nil)
        }
        #expect(hold(states(0..<4), in: lobby) == nil)
        let error = hold(states(4..<5), in: lobby)
        #expect(error?.code == .presenceCacheTooManyStates)
        #expect(error?.limit == .init(name: "waiting states", value: 100))
        let subscribed = ChannelID(type: .message, name: "c0")
        try cache.hold(states(4..<5), in: lobby, subscribed: [subscribed])
        #expect(cache.states(in: lobby)?.count == 5)
    }

    @Test("L-14: keys to 32 bytes, values to 1,024")
    mutating func sizes() {
        let key = String(repeating: "ä", count: 16)
        #expect(hold([key: String(repeating: "v", count: 1024)], in: lobby) == nil)
        #expect(hold([key + "x": ""], in: hall)?.code == .presenceStateKeySizeOverflow)
        let long = String(repeating: "v", count: 1025)
        #expect(hold(["a": "1", "b": long], in: hall)?.code == .presenceStateValueSizeOverflow)
        #expect(cache.states(in: hall) == nil)
    }

    @Test("P-44: keys are removed, none means all, unknown ones are passed over")
    mutating func remove() {
        cache.set(["a": "1", "b": "2", "c": "3"], in: lobby)
        cache.remove(["a", "unknown"], in: lobby)
        #expect(cache.states(in: lobby) == ["b": "2", "c": "3"])
        cache.remove([], in: lobby)
        #expect(cache.states(in: lobby) == nil)
        cache.set(["a": "1"], in: lobby)
        cache.remove(["a"], in: lobby)
        #expect(cache.states(in: lobby) == nil)
    }

    @Test("S-19: what others don't see, or see otherwise, is set again", arguments: 0..<100)
    mutating func missing(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        func some() -> [String: String] {
            var some: [String: String] = [:]
            for key in ["a", "b", "c", "d"] where random.chance(1, in: 2) {
                some[key] = "\(random.next() % 2)"
            }
            return some
        }
        let (own, shown) = (some(), some())
        cache.set(own, in: lobby)
        let missing = cache.missing(from: shown, in: lobby)
        // When the states are merged, others see everything that was set, and nothing is set twice.
        let merged = shown.merging(missing) { $1 }
        #expect(own.allSatisfy { merged[$0.key] == $0.value })
        #expect(missing.allSatisfy { shown[$0.key] != $0.value && own[$0.key] == $0.value })
        #expect(cache.missing(from: nil, in: lobby) == own)
        cache.forget(lobby)
        #expect(cache.missing(from: nil, in: lobby).isEmpty)
    }
}
