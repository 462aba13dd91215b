import Foundation
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

/// Generated histories: users who publish, start again and change keys, readers, and a server that repeats,
/// moves and mixes up what it has seen.
@Suite("Histories of encrypted messages")
struct EncryptionHistoryTests {
    private struct Sent: Hashable {
        var sealed: Data
        var place: ContentContext
        var payload: MessagePayload
        var keyID: EncryptionKey.ID
    }

    /// A ciphertext's key and nonce: nothing else of its header, and of its place only the channel, counts.
    private struct Nonce: Hashable {
        var channel: SenderChannel
        var counter: UInt32
    }

    private struct World {
        static let users = ["alice", "bob", "carol"]
        var random: SeededGenerator
        var ring: [EncryptionKey]
        var sealers: [String: Sealer] = [:]
        var reader = Opener(appID: "app")
        var readerKeys: [EncryptionKey]
        var sent: [Sent] = []
        /// What the server hasn't delivered yet, in order.
        var waiting: [Sent] = []
        var delivered: [Sent] = []
        var nonces: Set<Nonce> = []

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            ring = try [.sample(0), .sample(1, mode: .aes128GCM), .sample(2)]
            readerKeys = Array(ring.prefix(2))
        }

        mutating func publish() throws {
            let user = Self.users.randomElement(using: &random) ?? ""
            let channel = random.chance(1, in: 4) ? "hall" : "lobby"
            let place = ContentContext(
                .message, random.chance(1, in: 5) ? .user : .message, channel, publisher: user,
                item: random.chance(1, in: 3) ? "kind" : "")
            let payload: MessagePayload =
                random.chance(1, in: 2)
                ? .text(random.text(upTo: 40)) : .data(Data(random.bytes(upTo: 40)))
            let key = ring[Int.random(in: 0..<ring.count, using: &random)]
            var sealer = sealers[user] ?? Sealer(appID: "app")
            let sealed = sealer.seal(payload, at: place, with: key, random: &random)
            sealers[user] = sealer
            let header = try SealHeader(decoding: sealed)
            let nonce = Nonce(channel: SenderChannel(header, place), counter: header.counter)
            #expect(nonces.insert(nonce).inserted, "a nonce came twice")
            let message = Sent(sealed: sealed, place: place, payload: payload, keyID: key.id)
            sent.append(message)
            waiting.append(message)
        }

        mutating func deliver() {
            guard !waiting.isEmpty else { return }
            let message = waiting.removeFirst()
            // A message may be lost in a gap.
            guard !random.chance(1, in: 10) else { return }
            let result = read(message.sealed, at: message.place)
            if readerKeys.contains(where: { $0.id == message.keyID }) {
                #expect(result == .success(message.payload))
                delivered.append(message)
            } else {
                #expect(result == .failure(.init(.unknownKey, message.keyID)))
            }
        }

        mutating func replay() {
            guard let message = delivered.randomElement(using: &random) else { return }
            let knows = readerKeys.contains { $0.id == message.keyID }
            let expected = DecryptionFailure(knows ? .replayed : .unknownKey, message.keyID)
            #expect(read(message.sealed, at: message.place) == .failure(expected))
        }

        /// The server gives a message the place of another one.
        mutating func move() {
            guard let one = sent.randomElement(using: &random),
                let other = sent.randomElement(using: &random),
                one.place != other.place, readerKeys.contains(where: { $0.id == one.keyID })
            else { return }
            #expect(read(one.sealed, at: other.place) == .failure(.init(.notAuthentic, one.keyID)))
        }

        mutating func readHistory() {
            for message in sent.suffix(5) where readerKeys.contains(where: { $0.id == message.keyID }) {
                let payload = try? reader.openStored(message.sealed, at: message.place, with: readerKeys)
                #expect(payload == message.payload)
            }
        }

        mutating func turnKeys() {
            ring.shuffle(using: &random)
            readerKeys = Array(ring.shuffled(using: &random).prefix(random.chance(1, in: 3) ? 3 : 2))
        }

        private mutating func read(
            _ sealed: Data, at place: ContentContext
        ) -> Result<MessagePayload, DecryptionFailure> {
            Result { () throws(DecryptionFailure) in
                try reader.openDelivered(sealed, at: place, with: readerKeys)
            }
        }
    }

    @Test(
        "no nonce comes twice, everything arrives once, nothing moved or repeated is taken", arguments: 0..<30
    )
    func generated(seed: Int) throws {
        var world = try World(seed: UInt64(seed))
        for _ in 0..<400 {
            switch Int.random(in: 0..<20, using: &world.random) {
            case 0..<7: try world.publish()
            case 7..<14: world.deliver()
            case 14, 15: world.replay()
            case 16: world.move()
            case 17: world.readHistory()
            case 18: world.sealers[World.users.randomElement(using: &world.random) ?? ""] = nil
            default: world.turnKeys()
            }
        }
        #expect(!world.delivered.isEmpty)
    }
}
