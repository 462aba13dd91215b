import Foundation
import RTMClient
import RTMTestKit

/// The program of History.md.
func historyArticle(_ world: TestWorld, _ print: @escaping Printing) async throws {
    let alice = try RTMClient(.init(servers: [world.server], appID: world.appID, userID: "alice"))
    try await alice.login()
    for text in ["one", "two", "three"] {
        try await alice.publish(text, to: .channel("lobby"), storeInHistory: true)
    }

    let page = try await alice.history(of: .channel("lobby"), count: 2)
    print(page.messages.map { $0.text ?? "bytes" })
    if let start = page.nextStart {
        let older = try await alice.history(of: .channel("lobby"), start: start)
        print(older.messages.map { $0.text ?? "bytes" })
    }
    for try await message in alice.historyMessages(of: .channel("lobby")) {
        print(message.publisher, message.text ?? "bytes")
        if message.text == "two" { break }
    }

    struct Move: Codable {
        var from: String
        var to: String
    }
    let receipt = try await alice.publish(
        json: Move(from: "e2", to: "e4"), to: .channel("chess"), storeInHistory: true)
    for try await message in alice.historyMessages(of: .channel("chess"), since: receipt.timestamp) {
        let move = try message.decoded(as: Move.self)
        print(move.from, "to", move.to)
    }

    var newest = Date.distantPast
    let lobby = try await alice.subscribe(to: "lobby")

    let bob = try RTMClient(.init(servers: [world.server], appID: world.appID, userID: "bob"))
    try await bob.login()
    try await bob.publish("four", to: .channel("lobby"), storeInHistory: true)

    for await received in lobby {
        switch received {
        case .message(let message):
            print(message.text ?? "bytes")
            newest = message.timestamp
        case .missing:
            for try await message in alice.historyMessages(of: .channel("lobby"), since: newest) {
                print("fetched:", message.text ?? "bytes")
            }
        }
        if newest > .distantPast { break }
    }
}
