import RTMModel
import RTMProtocol
import Testing

/// The public codes exist twice, in the API's enum and in the schema's. Both must be one list.
@Suite("Error codes")
struct ErrorCodeTests {
    @Test("the API's codes are the schema's, number by number")
    func sameNumbers() {
        let api = Set(ErrorCode.allCases.map(\.rawValue))
        let wire = Set(Rtm_Client_ErrorCode.allCases.map(\.rawValue))
        #expect(api.subtracting(wire).sorted() == [], "missing in protocol/schema/client/error.proto")
        #expect(wire.subtracting(api).sorted() == [], "missing in Shared/Model/ErrorCode.swift")
    }

    /// The public API spells these differently from its documentation, which the schema follows.
    static let spelledOtherwise: [Int: String] = [
        -10016: "inconsistentappid", -10022: "servicenotsupported",
    ]

    @Test("each number has the same name in both")
    func sameNames() throws {
        for code in ErrorCode.allCases {
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
