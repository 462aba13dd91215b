import RTMClient
import Testing

@testable import rtm

@Suite("What a person learns while a command tries to log in")
struct LoginWatchTests {
    private func watch(isPatient: Bool = false) -> LoginWatch {
        LoginWatch(servers: [.local], timeout: .seconds(10), isPatient: isPatient)
    }

    @Test(
        "what waiting doesn't mend ends the command at once, with a hint",
        arguments: [
            (ConnectionFailure.refused, "is a server running there?"),
            (.unknownHost, "is the name right?"), (.tls, "--no-tls"),
            (.certificateUntrusted, "--ca names a file"), (.certificateOfOtherHost, "--server takes"),
            (.serverWithoutTLS, "--no-tls"), (.serverWithTLS, "--tls"),
            (.serverWithHTTP, "--server"), (.serverWithoutHTTP, "wss://"),
            (.webSocketRefused, "are the port and the path"),
        ])
    func hopeless(failure: ConnectionFailure, hint: String) {
        var watch = watch()
        let error = #expect(throws: RTMError.self) { try watch.attemptFailed("refused", failure) }
        #expect(error?.code == .notConnected)
        #expect(error?.reason.hasPrefix("refused; ") == true)
        #expect(error?.reason.contains(hint) == true)
    }

    @Test("what may pass is waited for, and so is everything when the user has said how long")
    func waiting() throws {
        var watch = watch()
        #expect(watch.notice.hasPrefix("waiting for 127.0.0.1:7710, for up to 10 s"))
        try watch.attemptFailed("no answer", .timedOut)
        try watch.attemptFailed("closed", nil)
        #expect(watch.notice.hasPrefix("closed; trying again, for up to 10 s"))
        watch.heldBack("too often")
        #expect(watch.notice.hasPrefix("too often; trying again"))
        try watch.attemptFailed("closed", nil)
        #expect(watch.timedOut.reason == "no login at 127.0.0.1:7710 within 10 s: closed")
        var patient = self.watch(isPatient: true)
        try patient.attemptFailed("refused", .refused)
        #expect(patient.timedOut.code == .loginTimeout)
    }

    @Test("a call that came too early is done again when the server said; other errors end it")
    func rates() async throws {
        var calls = 0
        let answer = try await respectingRates { () throws(RTMError) -> Int in
            calls += 1
            if calls < 3 {
                throw RTMError(.channelPublishMessageTooFrequent, "too fast", retryAfter: .milliseconds(1))
            }
            return calls
        }
        #expect(answer == 3)
        await #expect(throws: RTMError.self) {
            try await respectingRates { () throws(RTMError) in throw RTMError(.notConnected, "gone") }
        }
        await #expect(throws: RTMError.self) {
            try await respectingRates { () throws(RTMError) in
                throw RTMError(.operationRateExceedLimitation, "for long", retryAfter: .seconds(31))
            }
        }
    }

    @Test("the JSON of an error has the limit and the time to wait")
    func errorJSON() {
        let error = RTMError(
            .operationRateExceedLimitation, "too many", operation: "login",
            retryAfter: .microseconds(1500), limit: .init(name: "logins", value: 2))
        #expect(
            error.json.description.hasSuffix(
                #""limit":{"name":"logins","value":2},"retryAfterMilliseconds":2}}"#))
    }
}
