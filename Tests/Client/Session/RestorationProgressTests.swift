import Testing

@testable import RTMClient

struct RestorationProgressTests {
    @Test func `Restoring is done when every restoration has its answer`() {
        var progress = RestorationProgress()
        #expect(progress.isDone)
        progress.begin(2)
        progress.end()
        #expect(!progress.isDone)
        progress.end()
        #expect(progress.isDone)
    }

    @Test func `S-17: what is missing beside the channels makes a return incomplete`() {
        var progress = RestorationProgress()
        progress.failed(channel: "lobby", .channelSubscribeFailed)
        #expect(!progress.isIncomplete, "channels are named by themselves")
        progress.failed(user: "bob")
        #expect(progress.isIncomplete)
        progress = RestorationProgress()
        progress.hasInboxGap = true
        #expect(progress.isIncomplete)
    }

    @Test func `S-17: gaps of an attempt that failed are missing at the end of the next one, and once`() {
        var first = RestorationProgress()
        first.hasInboxGap = true
        first.interrupted(channel: "lobby")
        first.begin(1)
        var second = RestorationProgress(after: first)
        #expect(second.isDone)
        #expect(second.isIncomplete)
        #expect(second.interruptedChannels == ["lobby"])
        second.isReported = true
        #expect(RestorationProgress(after: second) == RestorationProgress())
    }

    @Test func `A-16: of the channels that don't come back those are marked that the token doesn't allow`() {
        var progress = RestorationProgress()
        progress.failed(channel: "lobby", .channelSubscribeFailed)
        progress.failed(channel: "vault", .channelSubscribePermissionDenied)
        #expect(progress.unrestoredChannels == ["lobby", "vault"])
        #expect(progress.forbiddenChannels == ["vault"])
    }
}
