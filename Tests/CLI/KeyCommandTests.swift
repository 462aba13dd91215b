import ArgumentParser
import RTMCredentials
import Testing

@testable import rtm

@Suite("API keys at the command line")
struct KeyCommandTests {
    private func make(_ arguments: String...) throws -> (text: String, json: JSON) {
        let key = try #require(APIKey("rtmk_AAAAAAAA_\(String(repeating: "a", count: 43))"))
        let command = try #require(try KeyCreateCommand.parseAsRoot(arguments) as? KeyCreateCommand)
        return try command.make(key)
    }

    @Test("W-1: the key is printed once, and its entry has a hash instead")
    func create() throws {
        let made = try make("dev/publish+read", "--channels", "chat-", "--expires", "2027-12-31")
        let lines = made.text.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
        #expect(lines.count { $0.hasPrefix("rtmk_AAAAAAAA_") } == 1)
        let line = try #require(lines.last)
        let fields = line.split(separator: ":")
        #expect(fields.count == 6 && fields[0] == "AAAAAAAA" && fields[1].count == 64)
        #expect(fields[2...] == ["dev", "publish+read", "chat-", "2027-12-31"])
        #expect(!line.contains("aaaa"))
        #expect(made.text.contains(#"- {id: "AAAAAAAA", hash: "\#(fields[1])", app: "dev""#))
    }

    @Test("what isn't set has no field")
    func short() throws {
        let made = try make("*/admin")
        #expect(made.text.hasSuffix(":*:admin"))
        #expect(!made.text.contains("channels") && !made.text.contains("expires"))
    }

    @Test(
        "a grant that names no app or no scope is refused, and so is a day that isn't one, and a prefix that is none",
        arguments: [
            ["dev"], ["/read"], ["dev/"], ["dev/write"], ["a/read", "--expires", "2027-02-30"],
            ["a/read", "--channels", ""],
        ])
    func mistakes(arguments: [String]) throws {
        let command = try #require(try KeyCreateCommand.parseAsRoot(arguments) as? KeyCreateCommand)
        #expect(throws: ValidationError.self) { try command.make(.random()) }
    }
}
