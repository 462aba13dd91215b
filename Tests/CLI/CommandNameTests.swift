import ArgumentParser
import Testing

@testable import rtm

@Suite("Mistyped commands")
struct CommandNameTests {
    private func refusal(_ words: String...) -> String? {
        CommandName.refusal(of: words, in: RTMCommand.self)?.message
    }

    @Test("a mistyped command gets a suggestion, at each level")
    func suggestions() {
        #expect(refusal("publsh", "lobby", "hi") == "there is no command 'publsh'; did you mean publish?")
        #expect(refusal("presence", "woh", "lobby") == "there is no command 'woh'; did you mean who?")
        #expect(refusal("frobnicate") == "there is no command 'frobnicate'")
    }

    @Test(
        "what chooses a command passes, whatever follows it",
        arguments: [
            [], ["publish", "lobby", "presnce"], ["presence", "who"], ["help", "publish"], ["--help"],
            ["--version"], ["presence"], ["lock", "help"], ["context", "add"],
        ])
    func known(words: [String]) {
        #expect(CommandName.refusal(of: words, in: RTMCommand.self) == nil)
    }
}
