import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// What waits for clients that don't read: of one client, of all clients of a loop, and of queries.
@Suite("Clients that don't read") struct SlowClientTests {
    private static let text = String(repeating: ".", count: 30_000)

    private func subscribe(_ client: EdgeClient, to channels: [String], _ fixture: EdgeFixture) {
        for (number, channel) in channels.enumerated() {
            client.subscribe(UInt64(3 + number), channel, .message)
            fixture.presence.answerJoin()
            fixture.pass()
        }
        _ = client.take()
    }

    @Test(
        "R-18: what is too much for one client is dropped when it comes, and the client is cut off with 3001")
    func bound() {
        let fixture = EdgeFixture()
        let (anna, ben, cleo) = (fixture.client("anna"), fixture.client("ben"), fixture.client("cleo"))
        for client in [anna, cleo] { subscribe(client, to: ["lobby"], fixture) }
        anna.isReading = false
        var most = 0
        for number in 0..<60 {
            ben.publish(UInt64(10 + number), Self.text)
            most = max(most, fixture.edge.outboundMemory.bytes)
        }
        #expect(most > 900_000 && most < 1_300_000)
        #expect(fixture.edge.outboundMemory.bytes == 0)
        anna.isReading = true
        fixture.pass()
        let frames = anna.take()
        #expect(frames.last?.disconnect.code == .disconnectSlowConsumer)
        #expect(cleo.isOpen && cleo.take().count == 60, "who reads notices nothing")
        fixture.end()
    }

    @Test("R-18: a client that reads at once gets whatever comes in a turn, however much")
    func burst() throws {
        let fixture = EdgeFixture()
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        let channels = (0..<40).map { "room \($0)" }
        subscribe(anna, to: channels, fixture)
        var bytes = ByteBuffer()
        for (number, channel) in channels.enumerated() {
            for copy in 0..<2 {
                let frame =
                    try Rtm_Client_ClientFrame.with {
                        $0.requestID = UInt64(100 + 2 * number + copy)
                        $0.publish.channelType = .message
                        $0.publish.channel = channel
                        $0.publish.payload = Data(Self.text.utf8)
                    }.serializedBytes() as [UInt8]
                bytes.writeInteger(UInt32(frame.count))
                bytes.writeBytes(frame)
            }
        }
        ben.arrive(bytes)
        fixture.pass(.milliseconds(10))
        #expect(anna.isOpen && anna.take().count == 80)
        fixture.end()
    }

    @Test("a socket that fails while a batch goes to the subscribers ends its session, and nothing else")
    func failingSocket() throws {
        let fixture = EdgeFixture()
        let (anna, ben, cleo) = (fixture.client("anna"), fixture.client("ben"), fixture.client("cleo"))
        for client in [anna, cleo] { subscribe(client, to: ["lobby"], fixture) }
        anna.failNextWrite()
        var bytes = ByteBuffer()
        for number in 0..<4 {
            let frame =
                try Rtm_Client_ClientFrame.with {
                    $0.requestID = UInt64(100 + number)
                    $0.publish.channelType = .message
                    $0.publish.channel = "lobby"
                    $0.publish.payload = Data(Self.text.utf8)
                }.serializedBytes() as [UInt8]
            bytes.writeInteger(UInt32(frame.count))
            bytes.writeBytes(frame)
        }
        // More than 64 KiB in one turn.
        ben.arrive(bytes)
        fixture.pass(.milliseconds(10))
        #expect(!anna.isOpen)
        #expect(cleo.isOpen && cleo.take().count == 4)
        fixture.end()
    }

    @Test("R-18: when the memory of all is used up, the client that holds the most is cut off, and no other")
    func largestHolder() {
        let fixture = EdgeFixture(outboundBytes: 1_000_000)
        let (anna, ben, cleo) = (fixture.client("anna"), fixture.client("ben"), fixture.client("cleo"))
        subscribe(anna, to: ["attic"], fixture)
        subscribe(cleo, to: ["hall"], fixture)
        for client in [anna, cleo] { client.isReading = false }
        for number in 0..<10 { ben.publish(UInt64(10 + number), Self.text, in: "attic") }
        for number in 0..<26 { ben.publish(UInt64(30 + number), Self.text, in: "hall") }
        for client in [anna, cleo] { client.isReading = true }
        fixture.pass()
        let end = cleo.take().last?.disconnect
        #expect(end?.code == .disconnectSlowConsumer && end?.retryAfterMs == 5_000)
        #expect(end?.reason.contains("875000") == false && end?.reason.contains("1000000") == true)
        #expect(anna.isOpen && anna.take().count == 10)
        #expect(fixture.edge.outboundMemory.bytes == 0)
        fixture.end()
    }

    @Test(
        "R-18: queries whose answers the client doesn't read wait, its heartbeats are answered, then all go on"
    )
    func pipelinedQueries() {
        let fixture = EdgeFixture()
        let (storage, anna) = (fixture.storage, fixture.client("anna"))
        for number in 0..<30 {
            anna.send(
                UInt64(10 + number),
                .getHistory(.with { ($0.channelType, $0.channel, $0.count) = (.message, "lobby", 100) }))
        }
        #expect(storage.callCount == CallQueue.queriesMax)
        anna.send(90, .heartbeat(.init()))
        #expect(anna.take().map(\.requestID) == [90])
        // A line that long: the socket isn't read any more.
        let reads = anna.reads
        anna.offerRead()
        #expect(anna.reads == reads)
        anna.isReading = false
        for _ in 0..<4 {
            fixture.storage.answerHistory(bytes: 200_000)
            fixture.pass()
        }
        #expect(storage.callCount <= 2 * CallQueue.queriesMax, "no query is passed on while answers wait")
        #expect(anna.waitingBytes < 1 << 20)
        anna.isReading = true
        fixture.pass()
        var answered = anna.take().map(\.requestID)
        for _ in 0..<30 {
            fixture.storage.answerHistory(bytes: 200_000)
            fixture.pass()
            answered += anna.take().map(\.requestID)
        }
        #expect(answered == (10..<40).map { UInt64($0) })
        #expect(anna.reads == reads + 1, "the read that was due")
        fixture.end()
    }
}

extension FakeService {
    fileprivate func answerHistory(bytes: Int) {
        let page: [UInt8] =
            (try? Rtm_Client_ServerFrame.with {
                $0.historyPage.messages = [.with { $0.payload = Data(count: bytes) }]
            }.serializedBytes()) ?? []
        page.withUnsafeBytes {
            _ = answer(StorageMethod.call.number, StorageCallResponse(response: WireText($0)))
        }
    }
}
