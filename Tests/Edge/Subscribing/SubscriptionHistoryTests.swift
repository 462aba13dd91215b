import RTMTestSupport
import Testing

/// The promise in the head of SubscriptionIndex.swift, held by generated histories: links break and come back
/// with and without gaps, answers come late or not at all, sessions subscribe with and without a position,
/// their clients read or don't, and they leave at any moment.
@Suite("Histories of the subscription index")
struct SubscriptionHistoryTests {
    @Test(
        "every session sees exactly what follows its position, once, in order; nothing is left when all have gone"
    )
    func histories() {
        var total = EdgeHistory.Events()
        for seed in 0..<200 as Range<UInt64> {
            var history = EdgeHistory(seed: seed)
            for _ in 0..<400 { history.step() }
            history.finish()
            total.add(history.events)
        }
        // Otherwise the histories would not test what they are for.
        #expect(total.admissions > 2500)
        #expect(total.refusals > 1000)
        #expect(total.pages > 400)
        #expect(total.losses > 300)
        #expect(total.timeouts > 250)
        #expect(total.entries > 10_000)
        #expect(total.gaps > 300)
        #expect(total.preparations > 2500)
        #expect(total.returns > 300)
        #expect(total.refreshes > 120)
        #expect(total.writableWaits > 300)
        #expect(total.collections > 300)
        #expect(total.retries > 100)
        #expect(total.sparedPages > 100)
    }
}
