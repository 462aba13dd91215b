import BotSample
import RTMClient
import RTMTestKit
import Testing

@Suite("The bot")
struct BotTests {
    @Test("it answers, remembers, and comes back")
    func answers() async throws {
        let world = try await TestWorld()
        let bot = try await Bot(world.configuration(of: "bot"), channel: "lobby")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await bot.run() }
            let alice = try await world.client("alice")
            var answers = alice.events().makeAsyncIterator()
            func ask(_ text: String) async throws -> String? {
                try await alice.publish(text, to: .channel("lobby"))
                while let event = await answers.next() {
                    if case .message(let message) = event, case .text(let text) = message.payload,
                        message.publisher == "bot"
                    {
                        return text
                    }
                }
                return nil
            }
            try await alice.subscribe(to: "lobby", features: [.message, .presence])
            #expect(try await ask("!who") == "alice, bot")
            #expect(try await ask("!echo a b") == "a b")
            #expect(try await ask("!remember Swift") == "I will")
            await world.disconnect("bot")
            await world.advance(by: .seconds(10))
            #expect(try await ask("!recall") == "Swift")
            #expect(try await ask("!dance") == "I don't know !dance. Ask !help")
            group.cancelAll()
        }
        await world.end()
    }
}
