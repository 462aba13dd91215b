import NIOCore
import RTMModel
import RTMProtocol
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// What clients read in `Error.reason` says nothing about the inside of the installation.
@Suite("Reasons that clients read")
struct ReasonTests {
    @Test("a service that can't be reached is named, its address is not")
    func noAddresses() throws {
        let fixture = EdgeFixture()
        let anna = fixture.client("anna")
        fixture.presence.stop()
        fixture.storage.stop()
        fixture.pass(.seconds(10))
        let calls: [Rtm_Client_ClientFrame.OneOf_Body] = [
            .whoNow(.with { ($0.channelType, $0.channel) = (.message, "lobby") }),
            .getLocks(.with { ($0.channelType, $0.channel) = (.message, "lobby") }),
        ]
        for (number, call) in calls.enumerated() {
            anna.send(UInt64(10 + number), call)
            fixture.pass(.seconds(1))
            let errors = anna.bodies().compactMap { if case .error(let error) = $0 { error } else { nil } }
            let error = try #require(errors.first)
            #expect(error.reason.hasSuffix("can't be reached at present"), "\(error.reason)")
        }
        fixture.edge.stop()
        fixture.pass(.seconds(10))
    }

    @Test("M-31: a receiver whose heartbeat is overdue is offline from that moment, and not before")
    func overdueReceiver() throws {
        let fixture = EdgeFixture()
        defer { fixture.end() }
        let anna = fixture.client("anna")
        let bob = fixture.client("bob", heartbeat: 5)
        fixture.pass(.milliseconds(14_900))
        #expect(try code(ofPublishTo: "bob", anna, 10) == nil)
        fixture.pass(.milliseconds(400))
        #expect(try code(ofPublishTo: "bob", anna, 11) == .errorChannelReceiverOffline)
        #expect(!bob.isOpen || bob.bodies().contains { if case .disconnect = $0 { true } else { false } })
    }

    private func code(
        ofPublishTo user: String, _ client: EdgeClient, _ id: UInt64
    ) throws -> Rtm_Client_ErrorCode? {
        client.send(id, .publish(.with { ($0.channelType, $0.channel) = (.user, user) }))
        let answer = try #require(client.take().first { $0.requestID == id })
        guard case .error(let error) = answer.body else { return nil }
        return error.code
    }
}
