import Testing

@testable import RTMServiceKit

/// Relations between timings: a violated one refuses to start, with a sentence that says what to change.
@Suite("Relations between the timings of a configuration")
struct ConfigurationRelationTests {
    private static let linger = ConfigurationKey<Duration>.duration(
        "relay.linger", default: .seconds(1), in: .zero ... .seconds(60), "How long it lingers.")
    private static let book = ConfigurationKey.optionalFile("relay.book", "What it reads.")
    private static let schema = ConfigurationSchema(
        RelayKeys.all + [linger.declaration, book.declaration], section: "relay")

    private func problems(_ arguments: [String], _ rule: ConfigurationRule) -> [String] {
        do {
            _ = try ConfigurationLoader(schema: Self.schema, rules: [rule]) { _ in "" }
                .load(arguments: arguments, environment: [:])
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test("a time that must be a multiple of another one names both keys, both values and the remedy")
    func multiple() {
        let rule = ConfigurationRule(
            RelayKeys.handshakeDeadline, isAtLeast: 2, times: Self.linger, because: "it would come too late")
        #expect(problems([], rule).isEmpty)
        #expect(problems(["--handshake-deadline", "2s"], rule).isEmpty)
        #expect(
            problems(["--handshake-deadline", "3s", "--linger", "2s"], rule) == [
                "relay.handshakeDeadline (--handshake-deadline): the value 3s is too short for relay.linger, "
                    + "which is 2s: it would come too late. Set relay.handshakeDeadline to at least 4s, "
                    + "or lower relay.linger"
            ])
    }

    @Test("a value that is of no use without others names those that are missing")
    func needs() {
        let rule = ConfigurationRule(
            RelayKeys.eager, needs: [RelayKeys.directory, Self.book], when: { $0 })
        #expect(
            problems(["--eager"], rule) == [
                "relay.eager (--eager): the value needs relay.directory and relay.book, and "
                    + "relay.directory and relay.book are not set. Set relay.directory and relay.book, or leave relay.eager out"
            ])
        #expect(
            problems(["--eager", "--book", "a"], rule) == [
                "relay.eager (--eager): the value needs relay.directory and relay.book, and "
                    + "relay.directory is not set. Set relay.directory, or leave relay.eager out"
            ])
        #expect(problems(["--book", "a"], rule).isEmpty)
        #expect(problems(["--eager", "--book", "a", "--directory", "b"], rule).isEmpty)
    }

    @Test("a relation that doesn't matter in a configuration refuses nothing")
    func condition() {
        let rule = ConfigurationRule(
            RelayKeys.handshakeDeadline, times: Self.linger, because: "it would come too late",
            when: { $0[RelayKeys.eager] })
        #expect(problems(["--linger", "9s"], rule).isEmpty)
        #expect(problems(["--linger", "9s", "--eager"], rule).count == 1)
    }

    @Test("a time that must outlast a fixed one names that and its value")
    func fixed() {
        let rule = ConfigurationRule(
            Self.linger, isAtLeast: .seconds(10), of: "the goodbye", because: "it would be cut off")
        #expect(problems(["--linger", "10s"], rule).isEmpty)
        #expect(
            problems(["--linger", "9500ms"], rule) == [
                "relay.linger (--linger): the value 9500ms is shorter than the goodbye, which is 10s: "
                    + "it would be cut off. Set relay.linger to at least 10s"
            ])
    }
}
