import RTMModel
import RTMProtocol
import SwiftProtobuf
import Testing

@testable import RTMClient

/// The four ends of each kind of request: the server grants it, the server refuses it, nobody waits for it
/// any longer, or the connection is lost.
struct RequestKindTests {
    private let device = EmbeddedLink()
    private var link: Link { device.link }
    private let time = RTMClient.Configuration(appID: "app", userID: "alice").requestTimeout

    init() throws {
        let login: EmbeddedLink.Call<Void> = device.start(.login) { $0.calls.login(token: nil, $1) }
        try device.accept()
        #expect(login.isSuccess)
    }

    private func subscribe() -> EmbeddedLink.Call<SubscriptionConfirmation> {
        device.start(.subscribe) { $0.subscriptions.subscribe(to: .message("lobby"), features: .message, $1) }
    }

    private func subscribed() throws {
        let call = subscribe()
        try device.answer(call.id) { $0.subscribed.position.epoch = 1 }
        _ = try device.sent()
    }

    private func unsubscribe() throws -> EmbeddedLink.Call<Void> {
        try subscribed()
        return device.start(.unsubscribe) { $0.subscriptions.unsubscribe(from: .message("lobby"), $1) }
    }

    private func isUnsubscribe(_ frame: Rtm_Client_ClientFrame) -> Bool {
        if case .unsubscribe = frame.body { true } else { false }
    }

    // MARK: Subscribe

    @Test func `A subscribe that is granted is a subscription`() throws {
        let call = subscribe()
        try device.answer(call.id) { $0.subscribed.position.epoch = 1 }
        #expect(call.isSuccess)
        #expect(link.subscribed.table.isActive(.message("lobby")))
    }

    @Test func `A subscribe that is refused leaves nothing`() throws {
        let call = subscribe()
        try device.refuse(call.id, .errorChannelSubscribeFailed)
        #expect(call.code == .channelSubscribeFailed)
        #expect(!link.subscribed.table.contains(.message("lobby")))
    }

    @Test func `An answer of another kind counts as a refusal`() throws {
        let call = subscribe()
        try device.answer(call.id) { $0.done = .init() }
        #expect(call.code == .channelSubscribeFailed)
        #expect(!link.subscribed.table.contains(.message("lobby")))
    }

    @Test func `A subscribe that nobody waits for any more is taken back`() throws {
        let call = subscribe()
        _ = try device.sent()
        device.advance(by: time)
        #expect(call.code == .channelSubscribeTimeout)
        #expect(try device.sent().contains(where: isUnsubscribe))
        try device.answer(call.id) { $0.subscribed.position.epoch = 1 }
        #expect(!link.subscribed.table.contains(.message("lobby")))
        #expect(call.endCount == 1)
    }

    @Test func `A late answer to the repetition of a subscribe still counts for the subscription`() throws {
        try subscribed()
        let again = subscribe()
        link.cancel(again.id)
        #expect(again.code == .cancelled)
        #expect(try !device.sent().contains(where: isUnsubscribe))
        try device.answer(again.id) { $0.subscribed.position = .with { ($0.epoch, $0.offset) = (2, 5) } }
        let position = link.subscribed.table.restoration(of: .message("lobby"))?.after
        #expect(position == StreamPosition(epoch: 2, offset: 5))
        #expect(again.endCount == 1)
    }

    @Test func `A subscribe whose connection is lost leaves nothing`() throws {
        let call = subscribe()
        device.cut()
        #expect(call.code == .notConnected)
        #expect(!link.subscribed.table.contains(.message("lobby")))
    }

    // MARK: Unsubscribe

    @Test func `An unsubscribe that is granted ends the subscription`() throws {
        let call = try unsubscribe()
        try device.answer(call.id) { $0.unsubscribed = .init() }
        #expect(call.isSuccess)
        #expect(!link.subscribed.table.contains(.message("lobby")))
    }

    @Test func `An unsubscribe that is refused leaves the subscription`() throws {
        let call = try unsubscribe()
        try device.refuse(call.id, .errorChannelUnsubscribeFailed)
        #expect(call.code == .channelUnsubscribeFailed)
        #expect(link.subscribed.table.isActive(.message("lobby")))
    }

    @Test func `An unsubscribe that nobody waits for any more ends the subscription`() throws {
        let call = try unsubscribe()
        device.advance(by: time)
        #expect(call.code == .channelUnsubscribeFailed)
        #expect(!link.subscribed.table.contains(.message("lobby")))
    }

    @Test func `S-16: an unsubscribe whose connection is lost succeeds`() throws {
        let call = try unsubscribe()
        device.cut()
        #expect(call.isSuccess)
        #expect(!link.subscribed.table.contains(.message("lobby")))
    }

    // MARK: Restoring

    @Test func `S-19: a restoration that is granted makes the link connected again`() throws {
        try subscribed()
        device.cut()
        let restore = try reconnect()
        #expect(link.session.state == .connecting)
        try device.answer(restore) { $0.subscribed.position.epoch = 1 }
        #expect(link.session.state == .connected)
    }

    @Test func `A restoration that is refused ends the subscription, and the link is connected again`() throws
    {
        try subscribed()
        device.cut()
        try device.refuse(try reconnect(), .errorInvalidChannelName)
        #expect(link.session.state == .connected)
        #expect(!link.subscribed.table.contains(.message("lobby")))
    }

    @Test func `S-19: a restoration without an answer is tried again on the next connection`() throws {
        try subscribed()
        device.cut()
        _ = try reconnect()
        device.advance(by: time)
        #expect(link.session.state == .disconnected)
        #expect(link.subscribed.table.isActive(.message("lobby")))
    }

    /// Returns the id of the request that restores the subscription.
    private func reconnect() throws -> UInt64 {
        device.advance(by: .seconds(2))
        try device.accept()
        let frames = try device.sent()
        return try #require(
            frames.first { if case .subscribe = $0.body { true } else { false } }?.requestID)
    }

    // MARK: Tokens and calls

    @Test func `S-52: a token that the server takes late is the session's token`() throws {
        let call: EmbeddedLink.Call<Void> = device.start(.renewToken) { $0.calls.renewToken("new", $1) }
        device.advance(by: time)
        #expect(call.code == .renewTokenTimeout)
        #expect(link.session.machine.token == nil)
        try device.answer(call.id) { $0.tokenRenewed = .init() }
        #expect(link.session.machine.token == "new")
        #expect(call.endCount == 1)
    }

    @Test func `A call ends once, whatever comes after its answer`() throws {
        let call: EmbeddedLink.Call<Duration> = device.start(.ping) { $0.calls.ping($1) }
        try device.answer(call.id) { $0.heartbeatAck = .init() }
        try device.refuse(call.id, .errorInvalidParameter)
        device.cut()
        #expect(call.isSuccess)
        #expect(call.endCount == 1)
    }

    @Test func `S-9: a call that is open when the client is closed reports that`() {
        let call = subscribe()
        link.close(nil)
        #expect(call.code == .instanceAlreadyReleased)
    }

    // MARK: Locks

    private let key = LockKey(channel: .message("lobby"), name: "manage")

    private func acquire() -> EmbeddedLink.Call<UInt64> {
        device.start(.acquireLock) {
            $0.locks.perform(LockCall(key: key, body: key.acquisition(), completion: $1))
        }
    }

    private func isWithdrawal(_ frame: Rtm_Client_ClientFrame) -> Bool {
        if case .releaseLock(let release) = frame.body { release.withdraw } else { false }
    }

    @Test func `A lock that nobody waits for any more is given back, and once more if it comes late`() throws
    {
        let call = acquire()
        _ = try device.sent()
        link.cancel(call.id)
        #expect(try device.sent().contains(where: isWithdrawal))
        try device.answer(call.id) { $0.lockAcquired.fencingToken = 3 }
        #expect(try device.sent().contains(where: isWithdrawal))
    }

    @Test func `K-12: a lock is claimed before the link counts as connected again`() throws {
        let call = acquire()
        try device.answer(call.id) { $0.lockAcquired.fencingToken = 3 }
        #expect(call.isSuccess)
        device.cut()
        device.advance(by: .seconds(2))
        try device.accept()
        #expect(link.session.state == .connecting)
        let claim = try device.sent().first { $0.acquireLock.heldToken == 3 }
        try device.answer(try #require(claim?.requestID)) { $0.lockAcquired.fencingToken = 3 }
        #expect(link.session.state == .connected)
    }

    @Test func `K-12: a claim without an answer costs half of an attempt's time, and not the session`()
        throws
    {
        let call = acquire()
        try device.answer(call.id) { $0.lockAcquired.fencingToken = 3 }
        device.cut()
        device.advance(by: .seconds(2))
        try device.accept()
        device.advance(by: time / 2)
        #expect(link.session.state == .connected)
    }

    // MARK: Publishing

    @Test func `A publish without an answer is sent again on the next connection, and ends once`() throws {
        let message = OutgoingMessage(
            payload: .text("x"), destination: .channel("lobby"), customType: "", storeInHistory: false)
        let call: EmbeddedLink.Call<PublishReceipt> = device.start(.publish) {
            $0.messages.publish(message, $1)
        }
        device.cut()
        #expect(call.endCount == 0)
        device.advance(by: .seconds(2))
        try device.accept()
        let again = try device.sent().first { $0.publish.again }
        #expect(again?.requestID == call.id)
        try device.answer(call.id) { $0.published.offset = 1 }
        #expect(call.isSuccess)
        #expect(call.endCount == 1)
    }
}
