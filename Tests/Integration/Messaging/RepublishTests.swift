import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Synchronization
import Testing

/// The publisher's edge is killed again and again while it publishes.
@Suite(.serialized) struct RepublishTests {
    private static let kills = 4
    private static let perRound = 60

    @Test(
        "An edge is killed under a publisher: each call completes, and each message arrives once, in order",
        .ends(withinMinutes: 3))
    func edge() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let publishing = system.address("edge")
            let alice = try system.client("alice") { $0.requestTimeout = .seconds(60) }
            try await alice.login()
            // Bob uses an edge of his own, which survives.
            try await system.launchEdge()
            let bob = try system.client("bob")
            try await bob.login()
            var received = bob.events().makeAsyncIterator()
            try await bob.subscribe(to: "lobby", features: .message)

            let receipts = Receipts()
            for round in 0..<Self.kills {
                let edge = try system.process("rtm-edge", first: round == 0)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<Self.perRound {
                        let text = "\(round)-\(number)"
                        group.addTask {
                            receipts.add(try await alice.publishOnceConnected(text), of: text)
                        }
                    }
                    // The kill comes in the middle: some messages have their answer, some have been
                    // published, some haven't.
                    try await eventually("the first answers") {
                        receipts.offsets.count > round * Self.perRound
                    }
                    try await edge.kill9()
                    try await system.launchEdge(listen: publishing)
                    try await group.waitForAll()
                }
                try await eventually("connected again") { alice.linkState == .connected }
            }
            let expected = receipts.offsets
            #expect(expected.count == Self.kills * Self.perRound)
            // Between the messages lie entries of presence, which have offsets of their own.
            #expect(Set(expected.values).count == expected.count)
            for offset in expected.values.sorted() {
                let message = try #require(await received.nextMessage())
                guard case .text(let text) = message.payload else { continue }
                #expect(message.offset == offset && expected[text] == offset)
            }
            await alice.close()
            await bob.close()
        }
    }
}

private final class Receipts: Sendable {
    private let contents = Mutex<[String: UInt64]>([:])

    /// The messages by text.
    var offsets: [String: UInt64] { contents.withLock { $0 } }

    func add(_ receipt: PublishReceipt, of text: String) { contents.withLock { $0[text] = receipt.offset } }
}

extension RTMClient {
    /// Repeats calls that S-8 refused, because they were never sent.
    fileprivate func publishOnceConnected(_ text: String) async throws -> PublishReceipt {
        var receipt: PublishReceipt?
        while receipt == nil {
            let refusal = await code { receipt = try await publish(text, to: .channel("lobby")) }
            guard let refusal else { break }
            try #require(refusal == .channelNotConnected)
            try await eventually("connected again") { linkState == .connected }
        }
        return try #require(receipt)
    }
}
