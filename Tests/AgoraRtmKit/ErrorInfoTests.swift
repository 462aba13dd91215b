import RTMModel
import Testing

@testable import AgoraRtmKit

@Suite("Errors")
struct ErrorInfoTests {
    private let info = AgoraRtmErrorInfo(
        RTMError(.channelReceiverOffline, "bob is offline", operation: "publish"))

    @Test("an error carries code, operation and reason (S-0a)")
    func contents() {
        #expect(info.errorCode == .channelReceiverOffline)
        #expect(info.operation == "publish")
        #expect(info.reason == "bob is offline")
    }

    @Test("R-2: how long to wait, the reason says")
    func retryTime() {
        let error = RTMError(.channelPublishMessageTooFrequent, "too fast", retryAfter: .microseconds(16_700))
        #expect(AgoraRtmErrorInfo(error).reason == "too fast; try again in 17 ms")
    }

    @Test("as an NSError it has the code's number, and the reason as its description")
    func asNSError() {
        let error: NSError = info
        #expect(error.code == -11033)
        #expect(error.domain == AgoraRtmErrorInfo.domainName)
        #expect(error.localizedDescription == "bob is offline")
    }

    @Test("thrown and caught it keeps its class and description")
    func thrown() {
        do {
            throw info as any Error
        } catch let error as AgoraRtmErrorInfo {
            #expect(error === info)
            #expect((error as any Error).localizedDescription == "bob is offline")
            #expect("\(error)".contains("bob is offline"))
        } catch {
            Issue.record("caught as \(type(of: error))")
        }
    }

    @Test("every code has a general reason")
    func generalReasons() {
        for code in AgoraRtmErrorCode.allCases {
            #expect(AgoraRtmClientKit.getErrorReason(code)?.isEmpty == false, "\(code)")
        }
        #expect(AgoraRtmClientKit.getErrorReason(.channelReceiverOffline) == "the receiver is offline")
    }

    @Test("the version begins with that of the API")
    func version() {
        #expect(AgoraRtmClientKit.getVersion().hasPrefix("2.2."))
    }
}
