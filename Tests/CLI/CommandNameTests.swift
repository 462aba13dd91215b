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

    @Test("a text that would be read as several short options is told where to go")
    func shortOptions() {
        for words in [["publish", "lobby", "-hi"], ["send", "bob", "-help"], ["publish", "lobby", "-5"]] {
            let word = words.last ?? ""
            #expect(
                CommandName.refusal(of: words, in: RTMCommand.self)?.message
                    == "there is no option '\(word)'; a text that begins with '-' goes behind '--'")
        }
        for words in [
            ["publish", "lobby", "--", "-hi"], ["publish", "lobby", "-l"], ["publish", "lobby", "-"],
            ["publish", "-h"], ["publish", "lobby", "--history", "hi"],
        ] { #expect(CommandName.refusal(of: words, in: RTMCommand.self) == nil) }
    }
}
