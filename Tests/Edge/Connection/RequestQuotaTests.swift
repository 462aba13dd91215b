import NIOCore
import RTMModel
import RTMProtocol
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// Nobody waits until thousands of requests of another client are done.
@Suite("Requests of one client in a turn of the loop")
struct RequestQuotaTests {
    private typealias Request = Rtm_Client_ClientFrame.OneOf_Body
    private static let share = Int(RequestQuota.requestsMax)

    /// So many requests in one read, with these ids.
    private func read(
        _ ids: Range<UInt64>, _ body: (UInt64) -> Request = { _ in .unsubscribe(.with { $0.channel = "a" }) }
    ) throws -> ByteBuffer {
        var bytes = ByteBuffer()
        for id in ids {
            let frame = Rtm_Client_ClientFrame.with {
                $0.requestID = id
                $0.body = body(id)
            }
            let encoded: [UInt8] = try frame.serializedBytes()
            bytes.writeInteger(UInt32(encoded.count))
            bytes.writeBytes(encoded)
        }
        return bytes
    }

    @Test("thousands of requests in one read are answered some at a time, in order, and others come between")
    func others() throws {
        let fixture = EdgeFixture()
        defer { fixture.end() }
        let (mallory, anna) = (fixture.client("mallory"), fixture.client("anna"))
        mallory.arrive(try read(10..<2_000))
        anna.arrive(try read(10..<20))
        fixture.pass(.zero)
        #expect(mallory.take().map(\.requestID) == Array(10..<10 + UInt64(Self.share)))
        #expect(anna.take().count == 10)
        mallory.arrive(try read(2_000..<2_010))
        fixture.pass(.milliseconds(10))
        #expect(mallory.take().map(\.requestID) == Array(10 + UInt64(Self.share)..<2_010))
        #expect(mallory.keptBytes == 0)
    }

    @Test("several reads in one turn have one share of it")
    func severalReads() throws {
        let fixture = EdgeFixture()
        defer { fixture.end() }
        let mallory = fixture.client("mallory")
        for first in [10, 50, 90, 130] as [UInt64] { mallory.arrive(try read(first..<first + 40)) }
        fixture.pass(.zero)
        #expect(mallory.take().count == Self.share)
        fixture.pass()
        #expect(mallory.take().count == 160 - Self.share)
    }

    @Test("while its requests wait a client's socket isn't read")
    func socket() throws {
        let fixture = EdgeFixture()
        defer { fixture.end() }
        let mallory = fixture.client("mallory")
        mallory.arrive(try read(10..<6_000))
        let before = mallory.reads
        mallory.offerRead()
        #expect(mallory.reads == before)
        fixture.pass(.milliseconds(20))
        #expect(mallory.reads == before + 1)
        mallory.offerRead()
        #expect(mallory.reads == before + 2)
    }

    @Test("publishes that are accepted all go to messaging in one turn, and those that are refused don't")
    func publishes() throws {
        let fixture = EdgeFixture()
        defer { fixture.end() }
        let anna = fixture.client("anna")
        anna.arrive(
            try read(10..<210) { _ in
                .publish(.with { ($0.channelType, $0.channel, $0.messageType) = (.message, "a", .text) })
            })
        fixture.pass(.microseconds(50))
        #expect(anna.take().count { if case .published = $0.body { true } else { false } } == 200)
        fixture.pass()
        anna.arrive(try read(10..<210) { _ in .publish(.with { $0.channelType = .stream }) })
        fixture.pass(.microseconds(50))
        #expect(anna.take().count == Self.share)
    }

    @Test("R-16: who is cut off in between hears nothing more, and what waits is thrown away")
    func cutOff() throws {
        let rates = ApplicationRates(publish: 0, calls: 20, subscribesMax: 0, login: 0, subscriptionsMax: 2)
        let fixture = EdgeFixture(rates: rates)
        defer { fixture.end() }
        let mallory = fixture.client("mallory")
        mallory.arrive(try read(10..<9_000))
        fixture.pass(.milliseconds(20))
        let answers = mallory.take()
        guard case .disconnect(let last) = answers.last?.body else {
            Issue.record("the client was not cut off")
            return
        }
        #expect(last.code == .disconnectRateExceeded)
        // 5,000 refusals are put up with.
        #expect((5_000...5_200).contains(answers.count))
        #expect(mallory.keptBytes == 0)
    }

    @Test("a gate that is closed for two reasons opens when both are gone, and the read that was due comes")
    func gate() {
        var gate = ReadGate()
        #expect(gate.mayRead() && !gate.open(.requests))
        gate.close(.requests)
        gate.close(.publishes)
        let mayRead = gate.mayRead()
        #expect(!mayRead)
        let opensForOne = gate.open(.requests)
        #expect(!opensForOne && gate.isClosed)
        let opensForBoth = gate.open(.publishes)
        #expect(opensForBoth && !gate.isClosed)
        let isDueAgain = gate.open(.all)
        #expect(!isDueAgain && gate.mayRead())
    }
}
