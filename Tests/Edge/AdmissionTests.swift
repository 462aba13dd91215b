import RTMModel
import Testing

@testable import RTMEdgeServer

@Suite("Who may log in")
struct AdmissionTests {
    private let admission = Admission([
        Application(id: "open", certificate: nil, subscriptionsMax: 50, rates: .unlimited),
        Application(id: "closed", certificate: "secret", subscriptionsMax: 50, rates: .unlimited),
    ])

    @Test(
        "S-2: without a certificate the app id is the credential, and none will do", arguments: ["", "open"])
    func noCertificate(_ token: String) throws {
        try admission.admit(appID: "open", userID: "anna", token: token)
    }

    @Test("S-2: any other token is refused", arguments: ["OPEN", "open ", "closed", "007eJx"])
    func wrongToken(_ token: String) {
        #expect(refusal("open", "anna", token) == .invalidToken)
    }

    @Test("an app with a certificate lets nobody in without a token", arguments: ["", "closed", "secret"])
    func certificate(_ token: String) {
        #expect(refusal("closed", "anna", token) == .invalidToken)
    }

    @Test("an unknown app is -10003, whatever else is wrong", arguments: ["", "Open", "open\u{0}", "x"])
    func unknownApp(_ appID: String) {
        #expect(refusal(appID, "", "nonsense")?.rawValue == -10003)
    }

    @Test(
        "L-1, L-2: a bad user id is -10006",
        arguments: ["", "ä", "a/b", "a\"b", String(repeating: "x", count: 65)])
    func badUser(_ userID: String) {
        #expect(refusal("open", userID, "")?.rawValue == -10006)
    }

    @Test("L-1: 64 bytes are a user id")
    func longestUser() throws {
        try admission.admit(appID: "open", userID: String(repeating: "x", count: 64), token: "")
    }

    @Test("a refusal doesn't repeat a long app id, nor the token")
    func reasons() {
        let error = #expect(throws: RTMError.self) {
            try admission.admit(appID: String(repeating: "x", count: 5000), userID: "anna", token: "")
        }
        #expect((error?.reason.count ?? .max) < 120)
        let token = #expect(throws: RTMError.self) {
            try admission.admit(appID: "open", userID: "anna", token: "my secret token")
        }
        #expect(token?.reason.contains("my secret token") == false)
    }

    private func refusal(_ appID: String, _ userID: String, _ token: String) -> ErrorCode? {
        do throws(RTMError) {
            try admission.admit(appID: appID, userID: userID, token: token)
            return nil
        } catch { return error.code }
    }
}
