import RTMModel
import RTMWire
import Testing

@testable import RTMGatewayServer

@Suite("What has become of a message") struct MessageExplanationTests {
    private var scene = ExplainScene()

    private typealias Scene = ExplainScene

    // MARK: The log

    @Test(
        "W-60: what was never accepted isn't delivered; what the log has forgotten isn't known",
        arguments: [
            (EntryTrace.ahead, "notDelivered log neverAccepted"), (.absent, "notDelivered log neverAccepted"),
            (.forgotten, "unknown log noLongerKnown"), (.otherLog, "unknown log noLongerKnown"),
        ])
    mutating func log(trace: EntryTrace, summary: String) {
        scene.trace = trace
        scene.online()
        scene.live()
        #expect(scene.message().summary == summary)
    }

    @Test("W-60: while messaging can't be asked nothing is known")
    mutating func messagingAway() {
        scene.messagingError = RTMError(.notConnected, "no messaging node leads")
        #expect(scene.message().summary == "unknown log unreachable")
        #expect(scene.message().reason.contains("no messaging node leads"))
    }

    // MARK: A session that is subscribed

    @Test("W-60: a subscriber from before whose queue is empty has had it written")
    mutating func written() throws {
        scene.online()
        scene.fact(.subscribed, at: 60_000, Scene.channel, Scene.at(20))
        scene.live()
        let explanation = scene.message()
        #expect(explanation.summary == "delivered session written")
        let tree = explanation.tree
        #expect(tree.all.map(\.verdict) == [.accepted, .pushed, .written])
        #expect(tree.at == 100_000 && tree.node == "messaging")
        let session = try #require(tree.all.last)
        #expect(session.node == "edge" && session.loop == 2 && session.session == "7")
        #expect(tree.all.allSatisfy { $0.reason.hasSuffix(".") && !$0.reason.dropLast().hasSuffix(".") })
    }

    @Test("W-60: behind bytes that wait for the client it isn't known whether it is among them")
    mutating func waiting() {
        scene.online(queued: 4_711)
        scene.fact(.subscribed, at: 60_000, Scene.channel, Scene.at(20))
        scene.live()
        #expect(scene.message().summary == "unknown session waiting")
        #expect(scene.message().reason.contains("4711 bytes"))
    }

    @Test("W-60: an edge that hasn't come so far has given it to nobody")
    mutating func behind() {
        scene.online()
        scene.fact(.subscribed, at: 60_000, Scene.channel, Scene.at(20))
        scene.live(upTo: 49)
        #expect(scene.message().summary == "notDelivered edge behind")
        scene.live(upTo: 49, attached: false)
        #expect(scene.message().summary == "notDelivered edge detached")
        scene.live(upTo: 50)
        #expect(scene.message().summary == "delivered session written")
    }

    @Test("W-60: who subscribed when it was in the log already didn't get it")
    mutating func later() {
        scene.online()
        scene.fact(.subscribed, at: 110_000, Scene.channel, Scene.at(50))
        scene.live()
        #expect(scene.message().summary == "notDelivered session subscribedLater")
        #expect(scene.message().last?.at == 110_000)
    }

    @Test("W-60: who came back got what it had missed, unless a gap was reported")
    mutating func resumed() {
        scene.online()
        scene.fact(.subscribed, at: 110_000, Scene.channel, Scene.at(55), after: Scene.at(49))
        scene.live()
        #expect(scene.message().summary == "delivered session written")
        scene.fact(.subscribed, at: 111_000, Scene.channel, Scene.at(56), after: Scene.at(50))
        #expect(scene.message().summary == "delivered session written", "it continued behind the message")
        scene.loop.facts = []
        scene.fact(.subscribed, at: 110_000, Scene.channel, Scene.at(55), after: Scene.at(49), gap: true)
        #expect(scene.message().summary == "notDelivered session gapReported")
        scene.loop.facts = []
        scene.fact(
            .subscribed, at: 110_000, Scene.channel, Scene.at(55), after: Scene.at(9, epoch: 9), gap: true)
        #expect(scene.message().summary == "unknown session noLongerKnown")
    }

    @Test("W-60: a gap that was reported to all subscribers, and who subscribed behind it")
    mutating func gap() {
        scene.online()
        scene.fact(.subscribed, at: 60_000, Scene.channel, Scene.at(20))
        scene.fact(.gap, at: 101_000, Scene.channel, Scene.at(50), after: Scene.at(49), session: 0)
        scene.live()
        #expect(scene.message().summary == "notDelivered session gapReported")
        scene.loop.facts[0].after = Scene.at(50)
        scene.loop.facts[0].position = Scene.at(52)
        #expect(scene.message().summary == "delivered session written", "the gap is behind the message")
        scene.loop.facts[0].after = Scene.at(30, epoch: 9)
        scene.loop.facts[0].position = Scene.at(49)
        #expect(scene.message().summary == "delivered session written", "the gap is before the message")
        scene.loop.facts[0].position = Scene.at(50)
        #expect(scene.message().summary == "notDelivered session gapReported")
    }

    @Test("W-60: without messages among its features, and its own message")
    mutating func unwanted() {
        scene.online()
        scene.fact(.subscribed, at: 60_000, Scene.channel, Scene.at(20))
        scene.live(features: .presence)
        #expect(scene.message().summary == "notDelivered session notWanted")
        scene.live()
        scene.entry.publisherSession = Scene.session
        #expect(scene.message().summary == "notDelivered session ownMessage")
        scene.entry.publisherSession = 0
        scene.entry.publisher = "anna"
        #expect(scene.message().summary == "delivered session written", "over HTTP there is no session")
        scene.entry.publisherSession = 6
        #expect(scene.message().summary == "unknown session ownMessage")
        scene.live(features: [.message, .ownMessages])
        #expect(scene.message().summary == "delivered session written", "it asks for its own (M-43)")
        scene.entry.publisherSession = Scene.session
        #expect(scene.message().summary == "delivered session written")
    }

    @Test("W-60: a subscribe that is under way")
    mutating func subscribing() {
        scene.online()
        scene.live(stage: .subscribing)
        #expect(scene.message().summary == "unknown session subscribing")
    }

    // MARK: A session that isn't

    @Test("W-60: who was never subscribed, and who was refused")
    mutating func never() {
        scene.online()
        #expect(scene.message().summary == "notDelivered session notSubscribed")
        scene.fact(.subscribeRefused, at: 70_000, cause: "the token doesn't allow it")
        #expect(scene.message().summary == "notDelivered session subscribeRefused")
        #expect(scene.message().reason.contains("the token doesn't allow it"))
    }

    @Test("W-60: who had unsubscribed, and who unsubscribed after it")
    mutating func unsubscribed() {
        scene.online()
        scene.fact(.subscribed, at: 60_000, Scene.channel, Scene.at(20))
        scene.fact(.unsubscribed, at: 90_000, Scene.channel, Scene.at(49))
        #expect(scene.message().summary == "notDelivered session notSubscribed")
        #expect(scene.message().last?.at == 90_000)
        scene.loop.facts[0].position = Scene.at(50)
        #expect(scene.message().summary == "delivered session written")
        scene.loop.facts[0].position = nil
        #expect(scene.message().summary == "unknown session noLongerKnown")
        scene.loop.facts[0].position = Scene.at(49)
        // It has subscribed again since.
        scene.fact(.subscribed, at: 120_000, Scene.channel, Scene.at(58))
        scene.live()
        #expect(scene.message().summary == "notDelivered session subscribedLater")
        #expect(scene.message().last?.at == 120_000)
        scene.loop.facts[1].position = Scene.at(51)
        #expect(scene.message().summary == "delivered session written", "it had it the first time")
    }

    @Test("W-60: facts of other sessions and channels count for nothing")
    mutating func others() {
        scene.online()
        scene.fact(.subscribed, at: 60_000, Scene.channel, Scene.at(20), session: 8)
        scene.fact(.unsubscribed, at: 110_000, Scene.channel, Scene.at(55), session: 8)
        scene.fact(.subscribed, at: 60_000, ChannelKey(appID: "app", type: .message, name: "b"), Scene.at(20))
        #expect(scene.message().summary == "notDelivered session notSubscribed")
    }

    // MARK: What is no longer known

    @Test("W-60: a ring that has turned since the message makes it unknown, and one that hasn't doesn't")
    mutating func turned() {
        scene.online(remembered: false)
        scene.live()
        // Whoever is subscribed and left no fact since the message was subscribed before it.
        scene.loop.factsSinceMilliseconds = 98_000
        #expect(scene.message().summary == "delivered session written")
        scene.loop.factsSinceMilliseconds = 99_500
        #expect(scene.message().summary == "unknown session noLongerKnown", "clocks may differ by a second")
        scene.fact(.subscribed, at: 110_000, Scene.channel, Scene.at(55))
        #expect(scene.message().summary == "unknown session noLongerKnown", "it may have been there before")
        scene.loop.factsSinceMilliseconds = 98_000
        #expect(scene.message().summary == "notDelivered session subscribedLater")
        scene.loop.facts = []
        scene.loop.sessions[0].stage = .none
        #expect(scene.message().summary == "notDelivered session notSubscribed")
        scene.loop.factsSinceMilliseconds = 100_001
        #expect(scene.message().summary == "unknown session noLongerKnown")
    }

    @Test("W-60: an earlier session may have got what the present one hasn't")
    mutating func earlierSession() {
        scene.online(since: 120_000)
        #expect(scene.message().summary == "notDelivered session notSubscribed")
        scene.loop.endsSinceMilliseconds = 110_000
        #expect(scene.message().summary == "unknown user noLongerKnown")
        scene.fact(.subscribed, at: 121_000, Scene.channel, Scene.at(49))
        scene.fact(.unsubscribed, at: 122_000, Scene.channel, Scene.at(49))
        #expect(
            scene.message().summary == "notDelivered session notSubscribed", "offsets say that it is older")
        scene.loop.facts = []
        scene.entry.publisherSession = Scene.session
        #expect(scene.message().summary == "notDelivered session ownMessage")
        scene.entry.publisherSession = 3
        scene.online(since: 50_000)
        #expect(
            scene.message().summary == "notDelivered session notSubscribed", "there is one session at a time")
    }

    @Test("W-60: event loops that don't answer may have a session that got it")
    mutating func incomplete() {
        scene.asked = 2
        scene.online()
        #expect(scene.message().summary == "unknown edge unreachable")
        #expect(scene.message().reason.contains("1 of 2"))
        scene.fact(.subscribed, at: 60_000, Scene.channel, Scene.at(20))
        scene.live()
        #expect(scene.message().summary == "delivered session written")
        scene.edgesError = RTMError(.storageNotAvailable, "storage is away")
        #expect(scene.message().summary == "unknown edge unreachable")
        // Messaging knows without the edges that nobody was there.
        scene.inboxLinks = []
        scene.inboxLeft = 90_000
        #expect(scene.message().summary == "notDelivered user offline")
    }

    // MARK: A user who isn't there

    @Test(
        "W-60: who was offline when it came, with the cause",
        arguments: [
            ("heartbeatTimeout", Hop.Verdict.offline), ("slowConsumer", .tooSlow),
            ("tokenExpired", .tokenExpired),
        ])
    mutating func offline(cause: String, verdict: Hop.Verdict) {
        scene.online()
        scene.ended(at: 90_000, cause)
        let explanation = scene.message()
        #expect(explanation.verdict == .notDelivered && explanation.hop == .user)
        #expect(explanation.last?.verdict == verdict && explanation.last?.at == 90_000)
        scene.ended(at: 90_000, "", remembered: false)
        #expect(scene.message().verdict == .notDelivered)
    }

    @Test("W-60: whoever has left since: subscribed or not, and why it ended")
    mutating func hasLeft() {
        scene.online()
        scene.ended(at: 101_000, "slowConsumer")
        #expect(scene.message().summary == "notDelivered session notSubscribed")
        scene = ExplainScene()
        scene.online()
        scene.fact(.subscribed, at: 60_000, Scene.channel, Scene.at(20))
        scene.ended(at: 101_000, "slowConsumer")
        #expect(scene.message().summary == "unknown session tooSlow")
        #expect(scene.message().reason.contains("cut off"))
        scene.loop.facts[1].position = Scene.at(50)
        #expect(scene.message().summary == "notDelivered session subscribedLater")
        scene.loop.facts[1].position = Scene.at(20)
        scene.fact(.unsubscribed, at: 95_000, Scene.channel, Scene.at(45))
        scene.loop.facts.swapAt(0, 1)
        #expect(scene.message().summary == "notDelivered session notSubscribed")
        scene.loop.facts[1].position = Scene.at(50)
        #expect(scene.message().summary == "unknown session offline" || scene.message().verdict == .unknown)
    }

    @Test("W-60: when nothing says whether the user was there")
    mutating func nobodyKnows() {
        scene.inboxLeft = 100_500
        #expect(
            scene.message().summary == "unknown user noLongerKnown", "it left about then, and nobody knows")
        scene.inboxLeft = 0
        #expect(scene.message().summary == "notDelivered user offline", "it would be known")
        scene.inboxKnownSince = 100_000
        #expect(scene.message().summary == "unknown user noLongerKnown")
        scene.inboxLinks = [ExplainedLink(node: "edge", waitingBytes: 0)]
        #expect(scene.message().summary == "unknown user notKnown")
    }

    // MARK: Inboxes, and nobody in particular

    @Test("W-60: the inbox of the user is a channel like any other")
    mutating func inbox() {
        scene.online()
        scene.live()
        #expect(scene.message(in: Scene.inbox).summary == "delivered session written")
        scene.loop.facts[0].position = Scene.at(50)
        #expect(scene.message(in: Scene.inbox).summary == "notDelivered session subscribedLater")
    }

    @Test("W-60: without a user it goes as far as the edges")
    mutating func edges() {
        scene.live()
        let explanation = scene.message(forUser: false)
        #expect(
            explanation.verdict == .unknown && explanation.tree.all.map(\.verdict) == [.accepted, .pushed])
        scene.live(upTo: 10)
        #expect(scene.message(forUser: false).tree.all.map(\.verdict) == [.accepted, .behind])
        scene.links = []
        scene.logLeft = 90_000
        #expect(scene.message(forUser: false).summary == "notDelivered edge noSubscribers")
        scene.logLeft = 100_000
        #expect(scene.message(forUser: false).verdict == .unknown)
    }
}
