import RTMAppConfiguration
import RTMModel
import RTMTestSupport
import RTMTokenTestSupport
import RTMWire
import Testing

@testable import RTMAccessToken
@testable import RTMEdgeServer

@Suite("What a session's token allows (A-15)")
struct PermissionTests {
    private let session = Session(
        key: .test(1), application: .forTest, userID: "anna", heartbeatInterval: 5,
        connection: RecordingConnection())

    @Test("without a token, and by one without lists, everything is allowed")
    func unrestricted() {
        for grant in [nil, TokenGrant(expiresAtMilliseconds: 1, permissions: [])] {
            session.grant = grant
            #expect(read("lobby") == nil)
            #expect(write(.message, "lobby") == nil)
            #expect(write(.user, "bert") == nil)
        }
    }

    @Test("a list allows what is in it, and reading is not writing")
    func lists() {
        grant(.channels(read: ["news"], write: ["lobby"], users: ["bert"]))
        #expect(read("news") == nil)
        #expect(read("lobby") == .channelSubscribePermissionDenied)
        #expect(write(.message, "lobby") == nil)
        #expect(write(.message, "news") == .channelPublishPermissionDenied)
        #expect(write(.user, "bert") == nil)
        #expect(write(.user, "lobby") == .channelPublishPermissionDenied)
        #expect(write(.message, "bert") == .channelPublishPermissionDenied)
    }

    @Test("a publish to oneself is always allowed")
    func oneself() {
        grant(.channels(read: [], write: []))
        #expect(write(.user, "anna") == nil)
        #expect(write(.message, "anna") == .channelPublishPermissionDenied)
    }

    @Test("names are matched exactly", arguments: ["new", "newss", "News", "news ", "*", ""])
    func exact(_ name: String) {
        grant(.channels(read: ["news"], write: []))
        #expect(read(name) == .channelSubscribePermissionDenied)
    }

    @Test("a refusal says what is not allowed")
    func reason() {
        grant(.channels(read: [], write: []))
        let error = #expect(throws: RTMError.self) {
            try "bert".withWireText { name in Result { try session.checkMayWrite(.user, name) } }.get()
        }
        #expect(error?.reason == "the token doesn't allow to publish to user \"bert\"")
    }

    private func grant(_ permissions: TokenPermissions) {
        session.grant = TokenGrant(expiresAtMilliseconds: 1, permissions: [permissions])
    }

    private func read(_ name: String) -> ErrorCode? {
        name.withWireText { name in code { () throws(RTMError) in try session.checkMayRead(name) } }
    }

    private func write(_ type: ChannelType, _ name: String) -> ErrorCode? {
        name.withWireText { name in code { () throws(RTMError) in try session.checkMayWrite(type, name) } }
    }

    private func code(_ call: () throws(RTMError) -> Void) -> ErrorCode? {
        do throws(RTMError) {
            try call()
            return nil
        } catch { return error.code }
    }
}
