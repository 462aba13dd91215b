import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

/// The events of topics that the app gets, from what presence says of their publishers (C-12, C-13).
@Suite struct TopicRosterTests {
    private var roster = TopicRoster()

    private func topic(_ name: String, _ publishers: (String, String)...) -> Topic {
        Topic(name: name, publishers: publishers.map { TopicPublisher(userID: $0.0, meta: $0.1) })
    }

    @Test("C-12: a snapshot lists topics by name with publishers and metas")
    mutating func snapshot() {
        let changes = roster.apply(
            .snapshot([
                UserState(userID: "ben", states: ["chat": "", "news": "daily"]), UserState(userID: "cleo"),
                UserState(userID: "anna", states: ["chat": "hi"]),
            ]))
        #expect(
            changes == [
                .snapshot([topic("chat", ("anna", "hi"), ("ben", "")), topic("news", ("ben", "daily"))])
            ])
        #expect(roster.publishers(of: "chat") == ["anna", "ben"])
        #expect(roster.publishers(of: "sports").isEmpty)
    }

    @Test("C-12, C-13: joins and leaves of topics, also by leaving and by a timeout")
    mutating func changes() {
        #expect(roster.apply(.joined("ben")) == [])
        #expect(
            roster.apply(.statesChanged(UserState(userID: "ben", states: ["chat": "m"])))
                == [.joined(topic: "chat", TopicPublisher(userID: "ben", meta: "m"))])
        #expect(
            roster.apply(.statesChanged(UserState(userID: "ben", states: ["news": ""])))
                == [
                    .left(topic: "chat", TopicPublisher(userID: "ben", meta: "m")),
                    .joined(topic: "news", TopicPublisher(userID: "ben")),
                ])
        #expect(
            roster.apply(.statesChanged(UserState(userID: "ben", states: ["news": ""]))) == [],
            "what is known already is not emitted")
        #expect(
            roster.apply(.timedOut("ben"))
                == [.left(topic: "news", TopicPublisher(userID: "ben"))])
        #expect(roster.apply(.left("ben")) == [])
        #expect(roster.topics == [])
    }

    @Test("a generated history: the events alone show who publishes what", arguments: 1...60)
    func histories(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var roster = TopicRoster()
        var truth: [String: [String: String]] = [:]
        var seen: [String: [String: String]] = [:]
        for step in 0..<200 {
            let user = "user\(Int.random(in: 0..<6, using: &random))"
            let change: PresenceEvent.Change
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                truth[user] = nil
                change =
                    Bool.random(using: &random) ? .left(user) : .timedOut(user)
            case 1: change = .snapshot(truth.map { UserState(userID: $0.key, states: $0.value) })
            default:
                let topics = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                    ("t\(Int.random(in: 0..<10, using: &random))", Bool.random(using: &random) ? "a" : "b")
                }
                truth[user] = Dictionary(topics) { $1 }
                change = .statesChanged(UserState(userID: user, states: truth[user] ?? [:]))
            }
            for event in roster.apply(change) {
                switch event {
                case .snapshot(let topics):
                    seen = [:]
                    for topic in topics {
                        for publisher in topic.publishers {
                            seen[publisher.userID, default: [:]][topic.name] = publisher.meta
                        }
                    }
                case .joined(let topic, let publisher):
                    seen[publisher.userID, default: [:]][topic] = publisher.meta
                case .left(let topic, let publisher):
                    #expect(seen[publisher.userID]?[topic] != nil, "step \(step): \(topic) was not there")
                    seen[publisher.userID]?[topic] = nil
                }
            }
            #expect(seen.filter { !$0.value.isEmpty } == truth.filter { !$0.value.isEmpty }, "step \(step)")
            for topic in roster.topics {
                #expect(roster.publishers(of: topic.name).count == topic.publishers.count)
            }
        }
    }
}
