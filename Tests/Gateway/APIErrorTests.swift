import Foundation
import HTTPTypes
import HummingbirdCore
import RTMCredentials
import RTMModel
import Testing

@testable import RTMGatewayServer

@Suite("The error body and its status")
struct APIErrorTests {
    @Test(
        "the status says what kind of failure it is",
        arguments: [
            (ErrorCode.operationRateExceedLimitation, 429), (.channelPublishMessageTooFrequent, 429),
            (.loginRejected, 403), (.historyPermissionDenied, 403), (.invalidToken, 401),
            (.tokenExpired, 401), (.invalidAppId, 404), (.lockNotExist, 404),
            (.storageOutdatedRevision, 409), (.channelReceiverOffline, 409), (.lockAlreadyExist, 409),
            (.channelPublishMessageFailed, 503), (.storageNotAvailable, 503),
            (.channelPublishMessageTimeout, 504), (.channelMessageDeliveredButStoreFailed, 500),
            (.channelMessageLengthExceedLimitation, 400), (.invalidChannelName, 400),
        ])
    func status(code: ErrorCode, status: Int) {
        let error = APIError(RTMError(code, "because"))
        #expect(error.status.code == status)
        #expect(error.body.code == code.rawValue && error.body.name == "\(code)")
        #expect(error.body.reason == "because")
    }

    @Test("what waiting helps says how long, also where the system doesn't know: whole seconds in the header")
    func retryAfter() {
        let soon = APIError(RTMError(.operationRateExceedLimitation, "", retryAfter: .milliseconds(20)))
        #expect(soon.body.retryAfter == 0.02 && soon.response(to: "r").headers[.retryAfter] == "1")
        let later = APIError(RTMError(.storageNotAvailable, "", retryAfter: .milliseconds(2_100)))
        #expect(later.response(to: "r").headers[.retryAfter] == "3")
        #expect(APIError(RTMError(.storageNotAvailable, "")).response(to: "r").headers[.retryAfter] == "1")
        #expect(APIError(RTMError(.invalidChannelName, "")).response(to: "r").headers[.retryAfter] == nil)
    }

    @Test("a refusal by a limit names it, and a conflict says what is there")
    func details() {
        let limited = APIError(RTMError(.invalidParameter, "", limit: .init(name: "n", value: 7)))
        #expect(limited.body.limit?.name == "n" && limited.body.limit?.value == 7)
        let set = APIError(RTMError(.storageOutdatedRevision, "", conflict: .init(majorRevision: 3)))
        #expect(set.body.conflict?.revision == 3 && set.body.conflict?.itemRevision == nil)
        let item = APIError(
            RTMError(.storageOutdatedRevision, "", conflict: .init(majorRevision: 3, key: "k", revision: 2)))
        #expect(item.body.conflict?.key == "k" && item.body.conflict?.itemRevision == 2)
    }

    @Test("who isn't recognised learns how to come in")
    func challenge() {
        #expect(Credentials.missing.response(to: "r").headers[.wwwAuthenticate] == "Bearer")
        #expect(APIError.missing(.admin).response(to: "r").headers[.wwwAuthenticate] == nil)
    }
}
