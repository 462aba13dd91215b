import RTMModel
import Testing

@testable import RTMClient

struct SubscriptionTableTests {
    private let start = StreamPosition(epoch: 5, offset: 10)

    private func subscribed(to channel: String = "lobby") throws -> Table {
        let table = Table()
        try table.subscribe(to: channel, features: .default, request: 1)
        #expect(table.confirm(channel, request: 1, position: start, hasGap: false) == nil)
        return table
    }

    @Test func `M-25: a publication at or before the position is not delivered`() throws {
        let table = try subscribed()
        #expect(!table.accepts("lobby", offset: 10))
        #expect(table.accepts("lobby", offset: 11))
        #expect(!table.accepts("lobby", offset: 11))
        #expect(table.accepts("lobby", offset: 15))
        #expect(!table.accepts("lobby", offset: 12))
    }

    @Test func `Publications of channels that are not subscribed are not delivered`() throws {
        let table = try subscribed()
        #expect(!table.accepts("other", offset: 11))
    }

    @Test func `M-8: a second subscribe of one channel is refused while the first is under way`() throws {
        let table = Table()
        try table.subscribe(to: "lobby", features: .default, request: 1)
        let error = #expect(throws: RTMError.self) {
            try table.subscribe(to: "lobby", features: .default, request: 2)
        }
        #expect(error?.code == .duplicateOperation)
    }

    @Test func `a gap before the answer is no subscription yet, and counts when there is one`() throws {
        let table = Table()
        try table.subscribe(to: "lobby", features: .default, request: 1)
        #expect(table.accepts("lobby", offset: 182))
        #expect(table.skip("lobby", to: StreamPosition(epoch: 6, offset: 3)) != nil)
        #expect(table.channels.isEmpty)
        #expect(table.accepts("lobby", offset: 4))
        #expect(!table.accepts("lobby", offset: 4))
        // The server sent this answer before the gap.
        let answer = StreamPosition(epoch: 5, offset: 181)
        #expect(table.confirm("lobby", request: 1, position: answer, hasGap: false) == nil)
        #expect(table.restorations.first?.after == StreamPosition(epoch: 6, offset: 4))

        try table.subscribe(to: "hall", features: .default, request: 2)
        #expect(table.skip("hall", to: StreamPosition(epoch: 6, offset: 0)) != nil)
        #expect(table.abandon("hall", request: 2), "nothing remains")
        #expect(table.channels == ["lobby"])
    }

    @Test func `M-5: subscribing again replaces the features and keeps the position`() throws {
        let table = try subscribed()
        #expect(table.accepts("lobby", offset: 11))
        try table.subscribe(to: "lobby", features: [.message, .lock], request: 2)
        let answer = StreamPosition(epoch: 5, offset: 14)
        #expect(table.confirm("lobby", request: 2, position: answer, hasGap: false) == nil)
        #expect(table.restorations.first?.features == [.message, .lock])
        #expect(table.accepts("lobby", offset: 12))
    }

    @Test func `S-19: restorations continue after the last seen position`() throws {
        let table = try subscribed()
        #expect(table.accepts("lobby", offset: 12))
        #expect(
            table.restorations == [
                .init(
                    channel: .message("lobby"), features: .default,
                    after: StreamPosition(epoch: 5, offset: 12))
            ])
    }

    @Test func `What is replayed after the answer is delivered although the answer's position is newer`()
        throws
    {
        let table = try subscribed()
        let head = StreamPosition(epoch: 5, offset: 20)
        #expect(table.confirm("lobby", request: nil, position: head, hasGap: false) == nil)
        #expect(table.accepts("lobby", offset: 11))
        #expect(table.accepts("lobby", offset: 20))
        #expect(!table.accepts("lobby", offset: 20))
    }

    @Test func `A gap is reported with both ends, and delivery goes on after it`() throws {
        let table = try subscribed()
        let head = StreamPosition(epoch: 5, offset: 20)
        let gap = table.confirm("lobby", request: nil, position: head, hasGap: true)
        #expect(gap?.lastSeen == start)
        #expect(gap?.continuesAfter == head)
        #expect(!table.accepts("lobby", offset: 20))
        #expect(table.accepts("lobby", offset: 21))
    }

    @Test func `Another epoch is a gap even if the server doesn't report one`() throws {
        let table = try subscribed()
        let head = StreamPosition(epoch: 6, offset: 2)
        #expect(table.confirm("lobby", request: nil, position: head, hasGap: false) != nil)
        #expect(table.accepts("lobby", offset: 3))
    }

    @Test func `A pushed gap moves the position, also backwards into a new epoch`() throws {
        let table = try subscribed()
        #expect(table.skip("lobby", to: StreamPosition(epoch: 6, offset: 0))?.lastSeen == start)
        #expect(table.accepts("lobby", offset: 1))
        #expect(table.skip("other", to: start) == nil)
    }

    @Test func `A gap of the same log that lies behind the position moves it back`() throws {
        let table = try subscribed()
        for offset in 11...14 as ClosedRange<UInt64> { #expect(table.accepts("lobby", offset: offset)) }
        #expect(table.skip("lobby", to: StreamPosition(epoch: 5, offset: 12)) != nil)
        #expect(table.accepts("lobby", offset: 13), "it is another message")
        #expect(!table.accepts("lobby", offset: 13))
    }

    @Test func `A publication that overtakes the subscribe's answer is delivered once`() throws {
        let table = Table()
        try table.subscribe(to: "lobby", features: .default, request: 1)
        #expect(table.accepts("lobby", offset: 11))
        #expect(table.confirm("lobby", request: 1, position: start, hasGap: false) == nil)
        #expect(!table.accepts("lobby", offset: 11))
        #expect(table.accepts("lobby", offset: 12))
    }

    @Test(arguments: [false, true])
    func `what still comes of a subscription that is left hides nothing of a log that began anew`(
        isLeftFirst: Bool
    ) throws {
        let table = try subscribed()
        table.beginLeaving("lobby")
        try table.subscribe(to: "lobby", features: .default, request: 2)
        #expect(table.accepts("lobby", offset: 33))
        if isLeftFirst { #expect(!table.finishLeaving("lobby")) }
        // Messaging was killed meanwhile.
        let answer = StreamPosition(epoch: 6, offset: 0)
        #expect(table.confirm("lobby", request: 2, position: answer, hasGap: false) == nil)
        if !isLeftFirst { #expect(!table.finishLeaving("lobby")) }
        #expect(table.accepts("lobby", offset: 1))
        #expect(!table.accepts("lobby", offset: 1))
    }

    @Test func `within one log what came of the subscription that is left doesn't come again`() throws {
        let table = try subscribed()
        table.beginLeaving("lobby")
        try table.subscribe(to: "lobby", features: .default, request: 2)
        #expect(table.accepts("lobby", offset: 33))
        let answer = StreamPosition(epoch: 5, offset: 30)
        #expect(table.confirm("lobby", request: 2, position: answer, hasGap: false) == nil)
        #expect(!table.accepts("lobby", offset: 33))
        #expect(table.accepts("lobby", offset: 34))
    }

    @Test func `A failed first subscribe leaves nothing, a failed repetition leaves the subscription`() throws
    {
        let table = Table()
        try table.subscribe(to: "lobby", features: .default, request: 1)
        let isFree = table.abandon("lobby", request: 1)
        #expect(isFree)
        #expect(!table.contains("lobby"))
        let running = try subscribed()
        try running.subscribe(to: "lobby", features: .all, request: 2)
        #expect(!running.abandon("lobby", request: 2))
        #expect(running.restorations.first?.features == .default)
    }

    @Test func `P-42: a subscribe that fails while the channel is being left is over when it is left`() throws
    {
        let table = Table()
        try table.subscribe(to: "lobby", features: .default, request: 1)
        table.beginLeaving("lobby")
        #expect(!table.abandon("lobby", request: 1))
        #expect(!table.isActive("lobby") && table.restorations.isEmpty)
        #expect(table.finishLeaving("lobby"), "what belongs to it is forgotten now")
        #expect(!table.contains("lobby"))
        try table.subscribe(to: "hall", features: .default, request: 2)
        table.beginLeaving("hall")
        #expect(!table.abandon("hall", request: 2))
        table.stay("hall")
        #expect(!table.contains("hall"), "there is nothing that could go on")
    }

    @Test func `2.1.11: a subscribe right after an unsubscribe survives the late answer to the unsubscribe`()
        throws
    {
        let table = try subscribed()
        table.beginLeaving("lobby")
        try table.subscribe(to: "lobby", features: .default, request: 2)
        table.finishLeaving("lobby")
        #expect(table.confirm("lobby", request: 2, position: start, hasGap: false) == nil)
        #expect(table.channels == ["lobby"])
    }

    @Test func `A refused unsubscribe leaves the subscription`() throws {
        let table = try subscribed()
        table.beginLeaving("lobby")
        table.stay("lobby")
        table.finishLeaving("lobby")
        #expect(table.channels == ["lobby"])
    }
}

/// Makes mutating calls possible in expectations.
private final class Table {
    private var table = SubscriptionTable()

    var channels: [String] { table.channels }
    var restorations: [SubscriptionTable.Restoration] { table.channelRestorations }

    func contains(_ channel: String) -> Bool { table.contains(.message(channel)) }

    func subscribe(to channel: String, features: SubscriptionFeatures, request: UInt64) throws(RTMError) {
        try table.subscribe(to: .message(channel), features: features, request: request)
    }

    func confirm(
        _ channel: String, request: UInt64?, position: StreamPosition, hasGap: Bool
    ) -> GapEvent? {
        table.confirm(.message(channel), request: request, position: position, hasGap: hasGap)
    }

    func accepts(_ channel: String, offset: UInt64) -> Bool {
        table.accepts(.message(channel), offset: offset)
    }
    func abandon(_ channel: String, request: UInt64) -> Bool {
        table.abandon(.message(channel), request: request)
    }
    func skip(_ channel: String, to position: StreamPosition) -> GapEvent? {
        table.skip(.message(channel), to: position)
    }
    func beginLeaving(_ channel: String) { table.beginLeaving(.message(channel)) }
    @discardableResult
    func finishLeaving(_ channel: String) -> Bool { table.finishLeaving(.message(channel)) }
    func isActive(_ channel: String) -> Bool { table.isActive(.message(channel)) }
    func stay(_ channel: String) { table.stay(.message(channel)) }
}
