import RTMModel
import RTMProtocol
import Testing

/// The public codes exist twice, in the API's enum and in the schema's. Both must be one list.
@Suite("Error codes")
struct ErrorCodeTests {
    @Test("the API's codes are the schema's, number by number")
    func sameNumbers() {
        let api = Set(ErrorCode.allCases.map(\.rawValue)).subtracting(Self.neverSent)
        let wire = Set(Rtm_Client_ErrorCode.allCases.map(\.rawValue))
        #expect(api.subtracting(wire).sorted() == [], "missing in protocol/schema/client/error.proto")
        #expect(wire.subtracting(api).sorted() == [], "missing in Shared/Model/ErrorCode.swift")
    }

    /// What only a client says.
    static let neverSent = [ErrorCode.cancelled.rawValue]

    /// The public API spells these differently from its documentation, which the schema follows.
    static let spelledOtherwise: [Int: String] = [
        -10016: "inconsistentappid", -10022: "servicenotsupported",
    ]

    @Test("each number has the same name in both")
    func sameNames() throws {
        for code in ErrorCode.allCases where !Self.neverSent.contains(code.rawValue) {
            let wire = try #require(Rtm_Client_ErrorCode(rawValue: code.rawValue))
            let name = Self.spelledOtherwise[code.rawValue] ?? "\(code)".lowercased()
            #expect("\(wire)".lowercased() == "error" + name)
        }
    }

    @Test("a code lies in the thousand of its area")
    func areas() {
        let areas = Set(ErrorCode.allCases.map { -$0.rawValue / 1000 })
        #expect(areas == [0, 10, 11, 12, 13, 14, 15])
    }

    @Test("a refusal that waiting can't cure isn't called retryable")
    func retryable() {
        #expect(RTMError(.channelPublishMessageTooFrequent, "").isRetryable)
        #expect(RTMError(.notConnected, "").isRetryable)
        #expect(!RTMError(.invalidChannelName, "").isRetryable)
        #expect(!RTMError(.channelMessageLengthExceedLimitation, "").isRetryable)
        #expect(!ErrorCode.ok.isRetryable)
    }

    @Test("M-26: what may have been published isn't retryable, and says so")
    func outcomes() {
        for code in [ErrorCode.channelPublishMessageTimeout, .channelPublishMessageFailed] {
            #expect(RTMError(code, "").outcome == .unknown)
            #expect(!RTMError(code, "").isRetryable)
        }
        let couldNot = RTMError(.channelPublishMessageFailed, "", retryAfter: .seconds(1))
        #expect(couldNot.outcome == .notDone && couldNot.isRetryable)
        #expect(RTMError(.channelReceiverOffline, "").outcome == .notDone)
        #expect(RTMError(.channelMessageDeliveredButStoreFailed, "").outcome == .done)
        // The same code comes before a request is sent, and when its answer is lost.
        #expect(RTMError(.notConnected, "").isRetryable)
        let lost = RTMError(.notConnected, "", outcome: .unknown)
        #expect(lost.outcome == .unknown && !lost.isRetryable && lost.mayPass)
        // A loop that makes retryable calls again ends with its task.
        #expect(!RTMError(.cancelled, "").isRetryable)
    }

    @Test("an answer that says when to come back is retryable whatever its code")
    func retryAfterDecides() {
        let refused = RTMError(.channelSubscribeFailed, "", retryAfter: .seconds(1))
        #expect(refused.isRetryable)
        #expect(RTMError(.loginRejected, "", retryAfter: .seconds(1)).isRetryable)
        #expect(!RTMError(.loginRejected, "").isRetryable)
    }

    @Test("S-0a: an error's text has operation, reason, name and number")
    func text() {
        let error = RTMError(.channelReceiverOffline, "bob is not logged in", operation: "publish")
        #expect("\(error)" == "publish: bob is not logged in (channelReceiverOffline -11033)")
        #expect("\(RTMError(.notLogin, "log in first"))" == "log in first (notLogin -10002)")
    }
}
