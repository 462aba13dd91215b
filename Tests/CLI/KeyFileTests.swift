import Foundation
import RTMClient
import Testing

@testable import rtm

@Suite("Key files")
struct KeyFileTests {
    private let salt = String(repeating: "0f", count: 32)

    private func keys(_ text: String) throws(RTMError) -> [EncryptionKey] {
        try KeyFile.keys(at: "team.key", readFile: { _ in text })
    }

    @Test("each line is a key, the first one first, with the salt in hexadecimal digits")
    func lines() throws {
        let bytes = Data(repeating: 15, count: 32)
        let expected = [try EncryptionKey("new secret", salt: bytes), try EncryptionKey("old", salt: bytes)]
        #expect(try keys("\(salt) new secret\n\n  \(salt.uppercased())   old \r\n") == expected)
    }

    @Test(
        "a file without keys and a line that is no key are refused, and the error doesn't show a secret",
        arguments: ["", "\n \n", "secret", "0f secret", "xy secret", "0 secret"])
    func refusals(_ text: String) {
        let error = #expect(throws: RTMError.self) { try keys(text) }
        #expect(error?.code == .invalidParameter)
        #expect(error?.reason.hasPrefix("--key-file: ") == true)
        #expect(error?.reason.contains("team.key") == true)
        #expect(error?.reason.contains(" secret'") == false)
    }

    @Test("a file that isn't there is named")
    func missing() {
        let error = #expect(throws: RTMError.self) { try KeyFile.keys(at: "/no/such/file") }
        #expect(error?.code == .invalidParameter)
        #expect(error?.reason.contains("/no/such/file") == true)
    }
}
