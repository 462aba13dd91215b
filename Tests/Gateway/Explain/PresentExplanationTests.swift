import RTMModel
import RTMWire
import Testing

@testable import RTMGatewayServer

@Suite("Whether a user gets messages now") struct PresentExplanationTests {
    private var scene = ExplainScene()

    private typealias Scene = ExplainScene

    // MARK: Users

    @Test("W-61: a user who is online, with sessions and what happened lately")
    mutating func online() throws {
        scene.online(queued: 5)
        scene.fact(.subscribeRefused, at: 60_000, cause: "no")
        scene.fact(.publishRefused, at: 61_000, cause: "too often")
        scene.loop.facts[0].count = 3
        scene.fact(.gap, at: 62_000, Scene.channel, Scene.at(2), after: Scene.at(1), session: 0)
        scene.fact(.loginRefused, at: 63_000, nil, session: 0, cause: "banned")
        let explanation = scene.explainUser()
        #expect(explanation.summary == "wouldBeDelivered user online")
        let hops = try #require(explanation.tree.hops)
        #expect(
            hops.map(\.verdict) == [
                .waiting, .loginRefused, .gapReported, .publishRefused, .subscribeRefused,
            ])
        #expect(hops[0].at == 50_000 && hops[0].session == "7" && hops[0].reason.contains("5 bytes"))
        #expect(hops[3].reason.contains("3 times in a row: too often") && hops[3].hop == .publisher)
        #expect(hops[1].session == nil)
    }

    @Test(
        "W-61: a user who is offline, with the cause",
        arguments: [
            ("loggedOut", Hop.Verdict.offline, "logged out"), ("slowConsumer", .tooSlow, "cut off"),
            ("tokenExpired", .tokenExpired, "expired"), ("kicked", .offline, "operator"),
        ])
    mutating func offline(cause: String, verdict: Hop.Verdict, words: String) {
        scene.online()
        scene.ended(at: 90_000, cause)
        let explanation = scene.explainUser()
        #expect(explanation.verdict == .wouldNotBeDelivered && explanation.last?.verdict == verdict)
        #expect(explanation.last?.at == 90_000 && explanation.reason.contains(words), "\(explanation.reason)")
        scene.bannedUntil = 260_000
        #expect(scene.explainUser().summary == "wouldNotBeDelivered user banned")
        #expect(scene.explainUser().reason.contains("60 more seconds"))
    }

    @Test("W-61: of whom nothing is remembered, and whom only messaging knows")
    mutating func unknown() {
        #expect(scene.explainUser().summary == "wouldNotBeDelivered user offline")
        scene.inboxLinks = [ExplainedLink(node: "edge", waitingBytes: 0)]
        #expect(scene.explainUser().summary == "unknown user notKnown")
        scene.messagingError = RTMError(.notConnected, "away")
        #expect(scene.explainUser().summary == "unknown user notKnown")
    }

    // MARK: Dry runs

    private mutating func publisher(_ code: ErrorCode? = nil) {
        scene.loop.publisher = ExplainedPublisher(
            sessionID: 3, code: Int64(code?.rawValue ?? 0), reason: code == nil ? "" : "the reason")
    }

    @Test("W-62: it would be delivered, hop by hop")
    mutating func wouldBeDelivered() {
        publisher()
        scene.online()
        scene.live()
        let explanation = scene.publish()
        #expect(explanation.summary == "wouldBeDelivered session subscribed")
        #expect(explanation.tree.all.map(\.hop) == [.publisher, .log, .edge, .session])
        #expect(explanation.tree.all.map(\.verdict) == [.allowed, .reachable, .pushed, .subscribed])
        #expect(explanation.tree.session == "3" && explanation.tree.node == "edge")
        scene.online(queued: 10)
        scene.live()
        #expect(scene.publish().summary == "wouldBeDelivered session waiting")
        #expect(scene.publish(by: nil).tree.all.first?.verdict == .allowed, "the backend itself")
    }

    @Test(
        "W-62: the publisher is refused",
        arguments: [
            (ErrorCode.channelPublishPermissionDenied, Hop.Verdict.permissionDenied),
            (.channelPublishMessageTooFrequent, .rateReached), (.channelPublishMessageFailed, .unreachable),
            (.channelInvalidMessage, .refused),
        ])
    mutating func refused(code: ErrorCode, verdict: Hop.Verdict) {
        publisher(code)
        scene.online()
        scene.live()
        let explanation = scene.publish()
        #expect(explanation.summary == "wouldNotBeDelivered publisher \(verdict.rawValue)")
        #expect(explanation.tree.all.count == 1 && explanation.reason.contains("the reason"))
    }

    @Test("W-62: a hook is named and not asked, and what is certain comes before what it might say")
    mutating func hook() {
        publisher()
        scene.online()
        scene.live()
        scene.hasHook = true
        #expect(scene.publish().summary == "unknown hook asked")
        #expect(scene.publish().tree.all.map(\.hop).prefix(3) == [.publisher, .hook, .log])
        scene.loop.sessions[0].stage = .none
        #expect(scene.publish().summary == "wouldNotBeDelivered session notSubscribed")
    }

    @Test("W-62: of a publisher who is offline the permission isn't known; a banned one publishes nothing")
    mutating func publisherAway() {
        scene.online()
        scene.live()
        #expect(scene.publish().summary == "unknown publisher permissionNotKnown")
        #expect(scene.publish().tree.all.last?.verdict == .subscribed, "the rest is asked nevertheless")
        scene.loop.sessions[0].stage = .none
        #expect(scene.publish().summary == "wouldNotBeDelivered session notSubscribed")
        scene.publisherBannedUntil = 300_000
        #expect(scene.publish().summary == "wouldNotBeDelivered publisher banned")
    }

    @Test("W-62: messaging is away, the edge is detached")
    mutating func services() {
        publisher()
        scene.online()
        scene.live(attached: false)
        #expect(scene.publish().summary == "unknown edge detached")
        scene.messagingError = RTMError(.notConnected, "away")
        #expect(scene.publish().summary == "wouldNotBeDelivered log unreachable")
    }

    @Test("W-62: the receiver: not subscribed, refused, without messages, the publisher itself, offline")
    mutating func receiver() {
        publisher()
        scene.online()
        #expect(scene.publish().summary == "wouldNotBeDelivered session notSubscribed")
        scene.fact(.unsubscribed, at: 90_000, Scene.channel, Scene.at(40))
        #expect(scene.publish().last?.at == 90_000 && scene.publish().reason.contains("unsubscribed"))
        scene.fact(.subscribeRefused, at: 91_000, cause: "no permission")
        #expect(scene.publish().summary == "wouldNotBeDelivered session subscribeRefused")
        #expect(scene.publish().reason.contains("no permission"))
        scene.live(stage: .subscribing)
        #expect(scene.publish().summary == "unknown session subscribing")
        scene.live(features: .presence)
        #expect(scene.publish().summary == "wouldNotBeDelivered session notWanted")
        scene.live()
        #expect(scene.publish(by: "anna").summary == "wouldNotBeDelivered session ownMessage")
        scene.live(features: [.message, .ownMessages])
        #expect(scene.publish(by: "anna").summary == "wouldBeDelivered session subscribed")
        scene.ended(at: 95_000, "slowConsumer")
        #expect(scene.publish().summary == "wouldNotBeDelivered user tooSlow")
        scene.bannedUntil = 300_000
        #expect(scene.publish().summary == "wouldNotBeDelivered user banned")
    }

    @Test("W-62: an event loop that doesn't answer may have the session")
    mutating func incomplete() {
        publisher()
        scene.asked = 3
        #expect(scene.publish().summary == "unknown edge unreachable")
        scene.online()
        #expect(scene.publish().summary == "unknown edge unreachable")
        scene.live()
        #expect(scene.publish().summary == "wouldBeDelivered session subscribed")
    }
}
