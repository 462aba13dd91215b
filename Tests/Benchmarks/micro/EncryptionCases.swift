import Foundation
import RTMClient
import RTMModel

/// What end-to-end encryption adds to a message in the client of its publisher and of each reader.
let encryptionCases = [
    MicroCase(name: "client/seal-128-bytes", batch: 1_000, outcome: 174) { try SealMessage() },
    MicroCase(name: "client/open-128-bytes", batch: 1_000, outcome: 128) { try OpenMessage() },
]

private struct Secret {
    static let place = ContentContext(.message, .message, "lobby", publisher: "alice", item: "")
    static let payload = MessagePayload.data(Data(repeating: 7, count: 128))

    let key: EncryptionKey
    var sealer = Sealer(appID: "demo")
    var random = SystemRandomNumberGenerator()

    init() throws {
        key = try EncryptionKey("a long random text", salt: Data(count: EncryptionKey.saltBytes))
    }

    mutating func seal() -> Data {
        sealer.seal(Self.payload, at: Self.place, with: key, random: &random)
    }
}

private struct SealMessage: Step {
    private var secret: Secret

    init() throws { secret = try Secret() }

    mutating func perform(_ count: Int) -> Int {
        var bytes = 0
        for _ in 0..<count { bytes += secret.seal().count }
        return bytes
    }
}

/// Opens messages as they are delivered, each once. A batch begins with a reader who knows nothing yet.
private struct OpenMessage: Step {
    private let key: EncryptionKey
    private let messages: [Data]

    init() throws {
        var secret = try Secret()
        key = secret.key
        messages = (0..<1_000).map { _ in secret.seal() }
    }

    mutating func perform(_ count: Int) throws -> Int {
        var opener = Opener(appID: "demo")
        var bytes = 0
        for index in 0..<count {
            let message = messages[index % messages.count]
            bytes += try opener.openDelivered(message, at: Secret.place, with: [key]).byteCount
        }
        return bytes
    }
}
