import Foundation
import RTMCryptography
import RTMModel
import Testing

@testable import RTMClient

/// What `protocol/encryption/known_answers.py` makes of docs/encryption.md, with another library in another
/// language.
struct KnownAnswer: Decodable, Sendable {
    var kind, appID, channelType, channel, publisher, item, secret, salt, sender: String
    var mode: UInt8
    var counter: UInt32
    var text, data, value: String?
    var master, keyID, senderKey, nonceSalt, nonce, additionalData, sealed: String

    private struct File: Decodable {
        var cases: [KnownAnswer]
    }

    static let all: [KnownAnswer] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let file = root.appending(path: "protocol/encryption/known-answers.json")
        let cases = try? JSONDecoder().decode(File.self, from: Data(contentsOf: file)).cases
        return cases ?? []
    }()

    var key: EncryptionKey {
        get throws {
            try EncryptionKey(
                secret, salt: Data(hex: salt), mode: #require(EncryptionKey.Mode(rawValue: mode)))
        }
    }

    var payload: MessagePayload { data.map { .data(Data(hex: $0)) } ?? .text(text ?? "") }

    var senderID: SenderID {
        let bytes = Data(hex: sender)
        return bytes.withUnsafeBytes { bytes in
            SenderID(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    var place: ContentContext {
        let kinds: [String: ContentContext.Kind] = [
            "message": .message, "state": .state, "metadata": .metadata,
        ]
        let types: [String: ChannelType] = ["none": .none, "message": .message, "user": .user]
        return ContentContext(
            kinds[kind] ?? .message, types[channelType] ?? .stream, channel, publisher: publisher, item: item)
    }
}

extension Data {
    init(hex: String) {
        let digits = Array(hex)
        self.init(
            stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(digits[$0...$0 + 1]), radix: 16)
            })
    }

    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

@Suite("Known answers of the encryption (E-6)")
struct KnownAnswerTests {
    @Test("the file is there")
    func file() { #expect(KnownAnswer.all.count == 12) }

    @Test("every key, nonce and ciphertext is as in the file", arguments: KnownAnswer.all)
    func answers(_ answer: KnownAnswer) throws {
        let key = try answer.key
        #expect(key.master.withUnsafeBytes { Data($0) }.hex == answer.master)
        #expect(key.id.description == answer.keyID)
        let place = answer.place
        let senderKey = KeySchedule.senderKey(of: key, answer.senderID, place.channelType, place.channelName)
        #expect(senderKey.key.withUnsafeBytes { Data($0) }.hex == answer.senderKey)
        #expect(Data(senderKey.nonceSalt).hex == answer.nonceSalt)
        #expect(Data(senderKey.nonce(answer.counter)).hex == answer.nonce)
        var sealer = Sealer(
            appID: answer.appID, sender: answer.senderID,
            counter: NonceCounter(startingAt: UInt64(answer.counter)))
        var random = SystemRandomNumberGenerator()
        let sealed = sealer.seal(answer.payload, at: place, with: key, random: &random)
        #expect(sealed.hex == answer.sealed)
        let header = try SealHeader(decoding: sealed)
        #expect(
            Data(place.additionalData(after: header, appID: answer.appID)).hex == answer.additionalData)
        switch place.kind {
        case .message: #expect(answer.value == nil)
        case .state: #expect(sealed.base64EncodedString() == answer.value)
        case .metadata:
            #expect(AuthoredContent(author: answer.publisher, sealed: sealed).text == answer.value)
        }
    }

    @Test("every ciphertext of the file is opened", arguments: KnownAnswer.all)
    func opened(_ answer: KnownAnswer) throws {
        var opener = Opener(appID: answer.appID)
        let sealed = Data(hex: answer.sealed)
        #expect(try opener.openStored(sealed, at: answer.place, with: [answer.key]) == answer.payload)
    }
}
