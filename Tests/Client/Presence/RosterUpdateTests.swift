import RTMTestSupport
import Testing

@testable import RTMClient

@Suite("Consumers of a roster", .ends(withinMinutes: 1))
struct RosterUpdateTests {
    private func update(_ users: [String], _ changes: RosterChange...) -> RosterUpdate {
        RosterUpdate(members: Dictionary(uniqueKeysWithValues: users.map { ($0, [:]) }), changes: changes)
    }

    @Test("what a slow consumer hasn't read is merged: the newest members, all changes in order")
    func merging() async {
        let watcher = RosterWatcher()
        watcher.append(update(["a"], .replaced))
        watcher.append(update(["a", "b"], .joined("b")))
        watcher.append(update(["b"], .left("a")))
        let merged = await watcher.next()
        #expect(merged == update(["b"], .replaced, .joined("b"), .left("a")))
        watcher.append(update([], .left("b")))
        #expect(await watcher.next() == update([], .left("b")))
    }

    @Test("beyond the limit, and with a new snapshot, changes become a replacement")
    func limit() {
        var merged = update(["a"], .joined("a"))
        merged.merge(update(["x"], .replaced))
        #expect(merged == update(["x"], .replaced))
        for _ in 0..<RosterUpdate.changesMax { merged.merge(update(["x", "y"], .joined("y"))) }
        #expect(merged == update(["x", "y"], .replaced))
    }

    @Test("a waiting consumer is woken by an update, by the end, and by its own cancellation")
    func waking() async {
        let watcher = RosterWatcher()
        async let first = watcher.next()
        watcher.append(update(["a"], .replaced))
        #expect(await first == update(["a"], .replaced))
        let waiting = Task { await watcher.next() }
        waiting.cancel()
        #expect(await waiting.value == nil)
        let second = RosterWatcher()
        async let end = second.next()
        second.finish()
        #expect(await end == nil)
        #expect(await second.next() == nil)
    }

    @Test("who is gone is forgotten")
    func forgetting() {
        var watchers = RosterWatchers()
        var watcher: RosterWatcher? = RosterWatcher()
        weak let observed = watcher
        if let watcher { watchers.add(watcher, for: .message("lobby")) }
        watcher = nil
        #expect(observed == nil)
        watchers.publish([:], [.replaced], in: .message("lobby"))
    }
}
