import Foundation
import RTMCryptography
import RTMModel
import Testing

@testable import RTMClient

extension EncryptionKey {
    /// A key that is good enough for a test, another one for each number.
    static func sample(_ number: Int = 0, mode: Mode = .aes256GCM) throws -> EncryptionKey {
        try EncryptionKey("secret \(number)", salt: Data(repeating: 7, count: saltBytes), mode: mode)
    }
}

@Suite("Encryption keys")
struct EncryptionKeyTests {
    @Test("L-49: a salt has 32 bytes", arguments: [0, 1, 31, 33, 64])
    func salt(_ count: Int) {
        let error = #expect(throws: RTMError.self) {
            try EncryptionKey("secret", salt: Data(repeating: 1, count: count))
        }
        #expect(error?.code == .invalidEncryptionParameter)
        #expect(error?.reason == "the salt has \(count) bytes, it must have 32")
    }

    @Test("E-1: a secret has any length but 0")
    func secret() throws {
        let salt = Data(repeating: 1, count: 32)
        let error = #expect(throws: RTMError.self) { try EncryptionKey("", salt: salt) }
        #expect(error?.code == .invalidEncryptionParameter)
        for secret in ["x", String(repeating: "long", count: 10_000)] {
            #expect(try EncryptionKey(secret, salt: salt) == EncryptionKey(secret, salt: salt))
        }
    }

    @Test("secret, salt and mode make the key, and each of them another name")
    func names() throws {
        let (one, other) = (Data(repeating: 1, count: 32), Data(repeating: 2, count: 32))
        let keys = [
            try EncryptionKey("a", salt: one), try EncryptionKey("b", salt: one),
            try EncryptionKey("a", salt: other), try EncryptionKey("a", salt: one, mode: .aes128GCM),
        ]
        #expect(Set(keys).count == 4)
        #expect(Set(keys.map(\.id)).count == 4)
        #expect(keys.allSatisfy { $0.id.description.count == 16 })
    }

    @Test("nothing that is printed shows a secret")
    func printed() throws {
        let key = try EncryptionKey("password1", salt: Data(repeating: 1, count: 32))
        var configuration = RTMClient.Configuration(appID: "app", userID: "alice")
        configuration.encryptionKeys = [key]
        var printed = "\(key) \(configuration) \(String(reflecting: key))"
        dump(key, to: &printed)
        dump(configuration.encryptionKeys, to: &printed)
        let master = key.master.withUnsafeBytes { Data($0) }
        #expect(printed.contains(key.id.description))
        #expect(!printed.contains("password1"))
        #expect(!printed.contains("SecretKey"))
        #expect(!printed.contains(master.hex) && !printed.contains("\(Array(master))"))
    }

    @Test("E-1: a client has at most 16 keys, and each once")
    func ring() throws {
        var configuration = RTMClient.Configuration(appID: "app", userID: "alice")
        configuration.encryptionKeys = try (0..<16).map { try .sample($0) }
        #expect(throws: Never.self) { try RTMClient(configuration) }
        configuration.encryptionKeys.append(try .sample(16))
        let tooMany = #expect(throws: RTMError.self) { try RTMClient(configuration) }
        #expect(tooMany?.code == .invalidEncryptionParameter)
        #expect(tooMany?.limit == .init(name: "encryption keys", value: 16))
        configuration.encryptionKeys = [try .sample(), try .sample()]
        let twice = #expect(throws: RTMError.self) { try RTMClient(configuration) }
        #expect(twice?.code == .invalidEncryptionParameter)
    }

    @Test("keys can be replaced, but whether a client encrypts stays as it was")
    func replacing() throws {
        var configuration = RTMClient.Configuration(appID: "app", userID: "alice")
        let plain = try RTMClient(configuration)
        configuration.encryptionKeys = [try .sample()]
        let encrypting = try RTMClient(configuration)
        #expect(throws: Never.self) { try encrypting.useEncryptionKeys([.sample(1), .sample()]) }
        for (client, keys) in [(plain, [try EncryptionKey.sample()]), (encrypting, [])] {
            let error = #expect(throws: RTMError.self) { try client.useEncryptionKeys(keys) }
            #expect(error?.code == .invalidEncryptionParameter)
            #expect(error?.operation == "useEncryptionKeys")
        }
    }
}
