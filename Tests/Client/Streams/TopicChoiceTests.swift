import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

/// Whom a subscription of a topic delivers (C-9, L-29).
@Suite struct TopicChoiceTests {
    private func choose(
        _ users: [String], among present: [String], subscribed: [String] = [], seed: UInt64 = 1
    ) throws(RTMError) -> TopicChoice {
        var random = SeededGenerator(seed: seed)
        return try TopicChoice(of: users, among: Set(present), subscribed: subscribed, using: &random)
    }

    @Test("C-9: users are added to those of before; who doesn't publish the topic yet fails and is chosen")
    func named() throws {
        let choice = try choose(["ben", "cleo", "ben"], among: ["anna", "ben"], subscribed: ["anna"])
        #expect(choice.publishers == ["anna", "ben", "cleo"])
        #expect(choice.succeeded == ["ben"] && choice.failed == ["cleo"])
        let later = try choose(["cleo"], among: ["cleo"], subscribed: choice.publishers)
        #expect(later.publishers == choice.publishers && later.succeeded == ["cleo"] && later.failed == [])
        let early = try choose(["ben"], among: [])
        #expect(early.publishers == ["ben"] && early.succeeded == [] && early.failed == ["ben"])
        let again = try choose(["anna"], among: ["anna"], subscribed: ["anna"])
        #expect(again.publishers == ["anna"] && again.succeeded == ["anna"] && again.failed == [])
    }

    @Test("C-10: a subscribed publisher who has left stays subscribed")
    func gone() throws {
        let choice = try choose(["ben"], among: ["ben"], subscribed: ["anna"])
        #expect(choice.publishers == ["anna", "ben"])
    }

    @Test("C-9, L-29: without users up to 64 publishers, chosen at random")
    func random() throws {
        let crowd = (0..<200).map { "user\($0)" }
        let first = try choose([], among: crowd, seed: 1)
        let second = try choose([], among: crowd, seed: 2)
        #expect(first.publishers.count == 64 && first.failed == [])
        #expect(Set(first.succeeded) == Set(first.publishers))
        #expect(first.publishers != second.publishers)
        #expect(try choose([], among: ["anna"]).publishers == ["anna"])
    }

    @Test("L-29: as many as fit are taken, the rest fails; -11003 only if none fits")
    func full() throws {
        let crowd = (0..<70).map { "user\($0)" }
        let choice = try choose(crowd, among: crowd)
        #expect(choice.succeeded == Array(crowd.prefix(64)) && choice.failed == Array(crowd.suffix(6)))
        #expect(throws: RTMError.self) {
            try choose(["new"], among: crowd + ["new"], subscribed: Array(crowd.prefix(64)))
        }
        let error = #expect(throws: RTMError.self) {
            try choose([], among: crowd, subscribed: Array(crowd.prefix(64)))
        }
        #expect(error?.code == .channelExceedTopicUserLimitation && error?.limit?.value == 64)
    }

    @Test("L-29: a user who doesn't publish yet counts, after those who do; -11003 also refuses such a user")
    func absent() throws {
        let crowd = (0..<63).map { "user\($0)" }
        let choice = try choose(["later", "ben"], among: ["ben"], subscribed: crowd)
        #expect(choice.publishers == (crowd + ["ben"]).sorted())
        #expect(choice.succeeded == ["ben"] && choice.failed == ["later"])
        let error = #expect(throws: RTMError.self) {
            try choose(["later"], among: ["ben"], subscribed: choice.publishers)
        }
        #expect(error?.code == .channelExceedTopicUserLimitation && error?.limit?.value == 64)
        #expect(try choose([], among: ["ben"], subscribed: choice.publishers).publishers == choice.publishers)
    }

    @Test("a generated history of calls keeps the rules", arguments: 1...60)
    func histories(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let crowd = (0..<Int.random(in: 1...150, using: &random)).map { "user\($0)" }
        var subscribed: [String] = []
        for _ in 0..<60 {
            let present = crowd.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
            let asked =
                Bool.random(using: &random)
                ? []
                : (0..<Int.random(in: 1...30, using: &random)).map { _ in
                    crowd[Int.random(in: crowd.indices, using: &random)]
                }
            guard
                let choice = try? TopicChoice(
                    of: asked, among: Set(present), subscribed: subscribed, using: &random)
            else {
                #expect(subscribed.count == Limits.topicPublishersMax)
                continue
            }
            #expect(choice.publishers.count <= Limits.topicPublishersMax)
            #expect(Set(choice.publishers).isSuperset(of: subscribed), "nobody is dropped")
            #expect(Set(choice.publishers).isSuperset(of: choice.succeeded))
            let added = Set(choice.publishers).subtracting(subscribed)
            #expect(added.isSubset(of: asked.isEmpty ? present : asked))
            #expect(Set(choice.succeeded).isSubset(of: present))
            #expect(Set(choice.failed).isDisjoint(with: Set(present).intersection(choice.publishers)))
            if choice.publishers.count < Limits.topicPublishersMax {
                #expect(Set(asked).isSubset(of: choice.publishers), "all are chosen if the limit allows it")
            }
            if !asked.isEmpty { #expect(Set(choice.succeeded).union(choice.failed) == Set(asked)) }
            subscribed = choice.publishers
            if Int.random(in: 0..<6, using: &random) == 0 {
                subscribed.removeAll { _ in Bool.random(using: &random) }
            }
        }
    }
}
