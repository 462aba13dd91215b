import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// Generated histories of an edge with topics: listeners choose publishers, choose others, leave, vanish and
/// come back, or read nothing for a while, while publishers publish with various priorities. Each listener
/// gets exactly what it wanted at that time, in order and once.
@Suite("Histories of topics at an edge")
struct TopicHistoryTests {
    private final class Listener {
        let user: String
        var client: EdgeClient?
        /// By topic: whose messages it wants.
        var wanted: [String: [String]] = [:]
        /// By topic: how far it has come.
        var positions: [String: Rtm_Client_StreamPosition] = [:]
        var expected: [String: [String]] = [:]
        var received: [String: [String]] = [:]

        init(_ user: String) { self.user = user }
    }

    private let fixture = EdgeFixture()
    private let names = ["room/a", "room/b", "room/c"]
    private let users = (0..<5).map { "p\($0)" }

    private func join(_ client: EdgeClient, publishes: Bool) {
        for (id, type, features) in [(10, .stream, 1), (11, .topics, publishes ? 1 : 17)]
            as [(UInt64, Rtm_Client_ChannelType, UInt32)]
        {
            client.send(
                id,
                .subscribe(.with { ($0.channelType, $0.channel, $0.features) = (type, "room", features) }))
            while fixture.presence.answerJoin() { fixture.pass() }
            fixture.presence.answerRoster([], in: "room")
            fixture.pass()
        }
        _ = client.take()
    }

    private func subscribe(_ listener: Listener, _ topic: String, after: Rtm_Client_StreamPosition? = nil) {
        listener.client?.send(
            20,
            .subscribe(
                .with {
                    ($0.channelType, $0.channel) = (.topic, topic)
                    $0.publishers = listener.wanted[topic] ?? []
                    if let after { $0.after = after }
                }))
        receive(listener, subscribing: topic)
    }

    private func receive(_ listener: Listener, subscribing topic: String? = nil) {
        listener.client?.isReading = true
        for body in listener.client?.bodies() ?? [] {
            switch body {
            case .subscribed(let answer):
                #expect(!answer.gap)
                if let topic { listener.positions[topic] = answer.position }
            case .publication(let entry):
                let text = String(decoding: entry.message.payload, as: UTF8.self)
                listener.received[entry.channel, default: []].append("\(entry.publisher) \(text)")
                listener.positions[entry.channel]?.offset = entry.offset
            case .error(let error): Issue.record("\(error.reason)")
            default: break
            }
        }
    }

    @Test(
        "C-8, C-9, C-11, C-14, S-19: everybody hears whom he wants, whatever happens in between",
        arguments: 1...30)
    func history(_ seed: UInt64) {
        defer { fixture.end() }
        var random = SeededGenerator(seed: seed)
        let publishers = users.map { user in
            let client = fixture.client(user)
            join(client, publishes: true)
            return client
        }
        let subscriberCount = (0..<4).map { number in
            let listener = Listener("l\(number)")
            listener.client = fixture.client(listener.user)
            listener.client.map { join($0, publishes: false) }
            return listener
        }
        for step in 0..<200 {
            let listener = subscriberCount[Int.random(in: subscriberCount.indices, using: &random)]
            let topic = names[Int.random(in: names.indices, using: &random)]
            switch Int.random(in: 0..<12, using: &random) {
            case 0...1 where listener.client != nil:
                listener.wanted[topic] = users.filter { _ in random.chance(1, in: 2) } + [users[0]]
                subscribe(listener, topic)
            case 2 where listener.client != nil && listener.wanted[topic] != nil:
                listener.client?.send(
                    21, .unsubscribe(.with { ($0.channelType, $0.channel) = (.topic, topic) }))
                receive(listener)
                (listener.wanted[topic], listener.positions[topic]) = (nil, nil)
            case 3:
                guard let client = listener.client else {
                    let client = fixture.client(listener.user)
                    listener.client = client
                    join(client, publishes: false)
                    for topic in listener.wanted.keys.sorted() {
                        subscribe(listener, topic, after: listener.positions[topic])
                    }
                    break
                }
                if client.isReading { receive(listener) }
                client.vanish()
                listener.client = nil
            case 4: listener.client?.isReading = false
            default:
                let channelIndex = Int.random(in: users.indices, using: &random)
                publishers[channelIndex].send(
                    30,
                    .publish(
                        .with {
                            ($0.channelType, $0.channel) = (.topic, topic)
                            $0.payload = Data("\(step)".utf8)
                            $0.priority = Rtm_Client_Priority(rawValue: step % 4) ?? .normal
                        }))
                for listener in subscriberCount
                where listener.wanted[topic]?.contains(users[channelIndex]) == true {
                    listener.expected[topic, default: []].append("\(users[channelIndex]) \(step)")
                }
                _ = publishers[channelIndex].take()
            }
        }
        for listener in subscriberCount {
            if listener.client == nil {
                let client = fixture.client(listener.user)
                listener.client = client
                join(client, publishes: false)
                for topic in listener.wanted.keys.sorted() {
                    subscribe(listener, topic, after: listener.positions[topic])
                }
            }
            receive(listener)
            #expect(listener.received == listener.expected, "\(listener.user)")
        }
    }
}
