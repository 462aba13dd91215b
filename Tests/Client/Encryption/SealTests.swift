import Foundation
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

/// One publisher and one reader, with one message between them.
private struct Scene {
    var sealer = Sealer(appID: "app")
    var opener = Opener(appID: "app")
    var random = SeededGenerator(seed: 1)
    let keys = [EncryptionKey.Mode.aes256GCM, .aes128GCM].compactMap { try? EncryptionKey.sample(mode: $0) }
    let place = ContentContext(.message, .message, "lobby", publisher: "alice", item: "note")

    mutating func seal(_ text: String = "hello") -> Data {
        sealer.seal(.text(text), at: place, with: keys[0], random: &random)
    }

    mutating func deliver(_ sealed: Data, to place: ContentContext? = nil) -> Result<MessagePayload, Failure>
    {
        Result { () throws(Failure) in
            try opener.openDelivered(sealed, at: place ?? self.place, with: keys)
        }
    }

    typealias Failure = DecryptionFailure
}

@Suite("Sealing and opening")
struct SealTests {
    private var scene = Scene()

    private func changed(_ change: (inout ContentContext) -> Void) -> ContentContext {
        var place = scene.place
        change(&place)
        return place
    }

    @Test("what is sealed is opened, a text as a text and bytes as bytes")
    mutating func roundTrip() throws {
        for payload in [.text("hello"), .text(""), .data(Data([0, 255])), .data(Data())] as [MessagePayload] {
            for key in scene.keys {
                let sealed = scene.sealer.seal(
                    payload, at: scene.place, with: key, random: &scene.random)
                #expect(sealed.count == payload.byteCount + SealedContent.overhead)
                #expect(scene.deliver(sealed) == .success(payload))
            }
        }
    }

    @Test("E-6: moved to another app, channel, publisher, item or kind, nothing can be opened")
    mutating func moved() throws {
        let sealed = scene.seal()
        let places = [
            changed { $0.channelName = "hall" }, changed { $0.channelType = .user },
            changed { $0.publisher = "mallory" }, changed { $0.item = "other" }, changed { $0.kind = .state },
            // The same bytes, divided otherwise.
            changed { ($0.publisher, $0.item) = ("alicen", "ote") },
        ]
        let id = scene.keys[0].id
        for place in places {
            #expect(scene.deliver(sealed, to: place) == .failure(.init(.notAuthentic, id)), "\(place)")
        }
        var other = Opener(appID: "another app")
        #expect(throws: DecryptionFailure(.notAuthentic, id)) {
            try other.openStored(sealed, at: scene.place, with: scene.keys)
        }
        #expect(scene.deliver(sealed) == .success(.text("hello")), "The failed attempts left no trace.")
    }

    @Test("E-6: no changed byte goes unnoticed")
    mutating func changedBytes() throws {
        let sealed = scene.seal()
        for index in sealed.indices {
            for bit in 0..<8 {
                var forged = sealed
                forged[index] ^= 1 << bit
                #expect(throws: DecryptionFailure.self) { try scene.deliver(forged).get() }
            }
            #expect(throws: DecryptionFailure.self) { try scene.deliver(sealed.prefix(index)).get() }
        }
        #expect(throws: DecryptionFailure.self) { try scene.deliver(sealed + [0]).get() }
        #expect(scene.deliver(sealed) == .success(.text("hello")))
    }

    @Test("a message that is delivered twice is refused the second time; reading it again is no delivery")
    mutating func replayed() throws {
        let sealed = scene.seal()
        #expect(scene.deliver(sealed) == .success(.text("hello")))
        #expect(scene.deliver(sealed) == .failure(.init(.replayed, scene.keys[0].id)))
        for _ in 0..<3 {
            #expect(
                try scene.opener.openStored(sealed, at: scene.place, with: scene.keys) == .text("hello"))
        }
    }

    @Test("E-4: the failure says why, and names the key")
    mutating func reasons() throws {
        let sealed = scene.seal()
        let id = scene.keys[0].id
        var opener = Opener(appID: "app")
        #expect(throws: DecryptionFailure(.unknownKey, id)) {
            try opener.openStored(sealed, at: scene.place, with: [.sample(1)])
        }
        #expect(throws: DecryptionFailure(.unknownKey, id)) {
            try opener.openStored(sealed, at: scene.place, with: [])
        }
        for plain in ["", "hello", String(repeating: "a longer text ", count: 9)] {
            #expect(scene.deliver(Data(plain.utf8)) == .failure(.init(.notEncrypted)))
        }
        var newer = sealed
        newer[0] = 0xFA
        #expect(scene.deliver(newer) == .failure(.init(.newerVersion)))
        newer = sealed
        newer[1] = 3
        #expect(scene.deliver(newer) == .failure(.init(.newerVersion)))
    }

    @Test("a slice of a bigger buffer is opened like any other bytes")
    mutating func slices() throws {
        let sealed = scene.seal()
        #expect(
            scene.deliver((Data([1, 2, 3]) + sealed + [4]).dropFirst(3).dropLast())
                == .success(.text("hello")))
    }

    @Test("E-5: what can't be encrypted says so with the code of its call")
    func sealingFailed() {
        #expect(RTMError.sealingFailed("why", .publish).code == .channelEncryptMessageFailed)
        #expect(RTMError.sealingFailed("why", .setState).code == .presenceOperationFailed)
        #expect(RTMError.sealingFailed("why", .setUserMetadata).code == .storageOperationFailed)
        #expect(RTMError.sealingFailed("why", .publish).reason.contains("why"))
    }
}

@Suite("Nonces")
struct NonceTests {
    @Test("a sender that has used all its numbers is replaced by a new one")
    func exhaustion() throws {
        let sender = SenderID(high: 1, low: 2)
        var sealer = Sealer(
            appID: "app", sender: sender, counter: NonceCounter(startingAt: NonceCounter.contentsMax - 2))
        var random = SeededGenerator(seed: 3)
        let key = try EncryptionKey.sample()
        let place = ContentContext(.message, .message, "lobby", publisher: "alice", item: "")
        var opener = Opener(appID: "app")
        var headers: [SealHeader] = []
        for _ in 0..<4 {
            let sealed = sealer.seal(.text("x"), at: place, with: key, random: &random)
            headers.append(try SealHeader(decoding: sealed))
            #expect(try opener.openDelivered(sealed, at: place, with: [key]) == .text("x"))
        }
        #expect(headers.map(\.counter) == [.max - 1, .max, 0, 1])
        #expect(headers.map { $0.sender == sender } == [true, true, false, false])
        #expect(headers[2].sender == headers[3].sender)
    }

    @Test("a client that is started again is another sender, whatever it encrypts")
    func restart() throws {
        let key = try EncryptionKey.sample()
        let place = ContentContext(.message, .message, "lobby", publisher: "alice", item: "")
        var random = SystemRandomNumberGenerator()
        var seen: Set<SenderID> = []
        for _ in 0..<100 {
            var sealer = Sealer(appID: "app")
            let sealed = sealer.seal(.text("the same"), at: place, with: key, random: &random)
            #expect(seen.insert(try SealHeader(decoding: sealed).sender).inserted)
        }
    }
}

@Suite("The header of a ciphertext")
struct SealHeaderTests {
    @Test("random bytes are decoded to what was encoded, or refused", arguments: 0..<20)
    func random(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<500 {
            var bytes = random.bytes(upTo: 80)
            if bytes.count > 1, random.chance(1, in: 2) { (bytes[0], bytes[1]) = (0xF9, bytes[1] & 0x13) }
            guard let header = try? SealHeader(decoding: Data(bytes)) else { continue }
            var encoded: [UInt8] = []
            header.append(to: &encoded)
            #expect(encoded == Array(bytes.prefix(SealHeader.byteCount)))
        }
    }

    @Test("a metadata value of random bytes is refused or consists of its parts", arguments: 0..<10)
    func authored(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<500 {
            let bytes = Data(random.bytes(upTo: 60))
            guard let content = AuthoredContent(bytes.base64EncodedString()) else {
                #expect(bytes.first.map { Int($0) >= bytes.count } ?? true)
                continue
            }
            #expect(content.sealed.count == bytes.count - 1 - Int(bytes[0]))
        }
        #expect(AuthoredContent("no base64!") == nil)
    }
}

@Suite("How much of the limits is left")
struct ContentSizeTests {
    @Test("the sizes are those of what is sealed", arguments: [0, 1, 2, 3, 44, 721, 722, 12_000])
    func sizes(_ count: Int) throws {
        var sealer = Sealer(appID: "app")
        var random = SeededGenerator(seed: 1)
        let place = ContentContext(.state, .message, "lobby", publisher: "alice", item: "mood")
        let text = String(repeating: "x", count: count)
        let sealed = try sealer.seal(.text(text), at: place, with: .sample(), random: &random)
        let size = ContentSize(isSealed: true)
        #expect(sealed.base64EncodedString().utf8.count == size.text(count))
        let authored = AuthoredContent(author: "alice", sealed: sealed).text
        #expect(authored.utf8.count == size.text(count, author: "alice"))
    }

    @Test("L-14, L-20, L-36: the largest content fits, and one byte more doesn't")
    func largest() {
        let size = ContentSize(isSealed: true)
        #expect(size.messageMax(within: 32_768) == 32_722)
        #expect(size.textMax(within: 1_024) == 722)
        #expect(size.text(722) == 1_024 && size.text(723) > 1_024)
        let longest = size.textMax(within: 16_384, author: "alice")
        #expect(longest == 12_236)
        #expect(size.text(longest, author: "alice") == 16_384)
        #expect(size.text(longest + 1, author: "alice") > 16_384)
        #expect(ContentSize().messageMax(within: 7) == 7 && ContentSize().text(7) == 7)
    }
}
