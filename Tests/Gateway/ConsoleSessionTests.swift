import RTMCredentials
import Testing

@testable import RTMGatewayServer

@Suite("W-34: the session of the console")
struct ConsoleSessionTests {
    private let now: UInt64 = 1_800_000_000

    @Test("it is the key, encrypted, for twelve hours, and gateways with one secret take each other's")
    func sealed() {
        let key = APIKey.random()
        let seal = ConsoleSession.Seal("a secret that gateways share")
        let text = seal.close(ConsoleSession(key), now: now)
        #expect(!text.contains("rtmk_") && seal.close(ConsoleSession(key), now: now) != text)
        let other = ConsoleSession.Seal("a secret that gateways share")
        #expect(other.open(text, now: now + 12 * 3_600 - 1)?.key == key)
        #expect(other.open(text, now: now + 12 * 3_600) == nil, "it is over")
        for another in [ConsoleSession.Seal(nil), ConsoleSession.Seal("another secret")] {
            #expect(another.open(text, now: now) == nil)
        }
        for garbage in [
            "", "x", key.text, String(text.dropFirst()), text + "A", String(repeating: "A", count: 9_000),
            // Shorter than a nonce, a nonce alone, and with a part of a tag.
            "AAAA", String(repeating: "A", count: 16), String(repeating: "A", count: 36),
        ] {
            #expect(seal.open(garbage, now: now) == nil)
        }
    }
}
