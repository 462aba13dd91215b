import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMServiceKit
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// what is refused before any service or channel is asked counts as a call, so that nobody can have an
/// edge refuse without end; what isn't a call never counts.
@Suite("Refused requests and the rate of calls")
struct RefusedRequestTests {
    /// Three calls at once, one a second.
    private static let rates = {
        var rates = ApplicationRates(publish: 0, calls: 0, subscribesMax: 0, login: 0, subscriptionsMax: 2)
        rates.calls = Rate(perSecond: 1, burst: 3)
        return rates
    }()

    private typealias Request = Rtm_Client_ClientFrame.OneOf_Body

    private static let tooLong = Request.publish(
        .with {
            ($0.channelType, $0.channel) = (.message, "lobby")
            $0.payload = .init(count: Limits.messageBytesMax + 1)
        })
    private static let good = Request.publish(
        .with { ($0.channelType, $0.channel, $0.messageType) = (.message, "lobby", .text) })

    /// The code of the answer; 0 for an answer that is no error.
    private func code(of request: Request?, _ id: UInt64, _ client: EdgeClient) throws -> Int {
        client.send(id, request)
        let answer = try #require(client.take().first { $0.requestID == id })
        guard case .error(let error) = answer.body else { return 0 }
        if error.code == .errorOperationRateExceedLimitation {
            #expect(error.retryAfterMs > 0 && error.retryAfterMs <= 1_001)
            #expect(error.limit.name == "calls per second" && error.limit.value == 1)
        }
        return error.code.rawValue
    }

    @Test("publishes that no channel can take, and requests of an unknown kind, count as calls")
    func counted() throws {
        let kinds: [(Request?, ErrorCode)] = [
            (Self.tooLong, .channelMessageLengthExceedLimitation),
            (.publish(.with { ($0.channelType, $0.channel) = (.message, "") }), .invalidChannelName),
            (.publish(.with { ($0.channelType, $0.channel) = (.stream, "a") }), .invalidChannelType),
            (nil, .serviceNotSupport),
        ]
        for (request, refusal) in kinds {
            let fixture = EdgeFixture(rates: Self.rates)
            defer { fixture.end() }
            let anna = fixture.client("anna")
            for id in 10..<13 as Range<UInt64> {
                #expect(try code(of: request, id, anna) == refusal.rawValue)
            }
            #expect(
                try code(of: request, 13, anna) == ErrorCode.operationRateExceedLimitation.rawValue,
                "\(refusal)")
            fixture.pass(.seconds(1))
            #expect(try code(of: request, 14, anna) == refusal.rawValue)
        }
    }

    @Test("a heartbeat is never refused, and what a channel can take is a matter of its own rate")
    func uncounted() throws {
        let fixture = EdgeFixture(rates: Self.rates)
        defer { fixture.end() }
        let anna = fixture.client("anna")
        for id in 10..<110 as Range<UInt64> {
            #expect(try code(of: .heartbeat(.init()), id, anna) == 0)
            #expect(try code(of: Self.good, 1_000 + id, anna) == 0)
        }
        // Neither has taken anything from what there is for calls.
        for id in 110..<113 as Range<UInt64> {
            #expect(try code(of: nil, id, anna) == ErrorCode.serviceNotSupport.rawValue)
        }
        #expect(try code(of: nil, 113, anna) == ErrorCode.operationRateExceedLimitation.rawValue)
        #expect(try code(of: .heartbeat(.init()), 114, anna) == 0)
    }
}
