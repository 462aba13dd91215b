// A conversation in one channel. Two things go on at once: the lines that the user types are published in
// their order, and the messages of others are shown when they come. The publisher of a message doesn't
// receive it (M-21), so the user's own lines are shown once the server has accepted them.

import RTMClient

/// The conversation, wherever its lines come from.
struct Chat: Sendable {
    /// Limit: lines that wait for the server. Beyond it a line is refused, with a remark.
    static let outboxLinesMax = 64

    let client: RTMClient
    let channel: String
    let output: Output

    /// Publishes lines from a pipe or a file, at the pace at which the server takes them. The end of the
    /// input ends the chat.
    func read(_ input: StandardInput) async throws {
        var splitter = LineSplitter()
        while let bytes = await input.next() {
            for line in try splitter.split(bytes) where try await !take(line) { return }
        }
        if let line = splitter.finish() { _ = try await take(line) }
    }

    /// Publishes lines from the keyboard. Typing goes on while a line is on its way.
    func type(on screen: PromptScreen, _ input: StandardInput) async throws {
        let (outbox, entrance) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingOldest(Self.outboxLinesMax))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { entrance.finish() }
                try await readKeys(of: screen, input, into: entrance)
            }
            for await line in outbox where try await !take(line) { break }
            // If the user leaves by a key, the lines before it were sent. If the user leaves by /quit, no
            // more lines come.
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func readKeys(
        of screen: PromptScreen, _ input: StandardInput, into entrance: AsyncStream<String>.Continuation
    ) async throws {
        try await screen.showPrompt()
        while let bytes = await input.next() {
            let (lines, leaves) = try await screen.type(bytes)
            for line in lines {
                if case .dropped = entrance.yield(line) {
                    try await output.remark(
                        "this line was not sent, because too many lines are waiting: \(line)")
                }
            }
            if leaves { return }
        }
    }

    /// Returns false when the user wants to leave.
    private func take(_ line: String) async throws -> Bool {
        switch ChatLine(line) {
        case .nothing: break
        case .say(let text): try await say(text)
        case .help: try await output.remark(ChatLine.helpText)
        case .unknown(let word): try await output.remark("there is no \(word); \(ChatLine.helpText)")
        case .who: try await listUsers()
        case .quit: return false
        }
        return true
    }

    private func listUsers() async throws {
        do {
            var users: [UserState] = []
            for try await user in client.onlineUsers(in: channel, includingStates: true) {
                users.append(user)
            }
            switch output.format {
            case .human: try await output.remark(output.transcript.sentence(forUsers: users))
            case .json: try await output.result(nil, ["users": .array(users.map(\.json))])
            }
        } catch let error as RTMError {
            try await report(error, "nobody knows who is here, \(error.reason)")
        }
    }

    /// The conversation goes on after something that failed.
    private func report(_ error: RTMError, _ sentence: String) async throws {
        switch output.format {
        case .human: try await output.remark(sentence)
        case .json: output.failure(error)
        }
    }

    private func say(_ text: String) async throws {
        do {
            let receipt = try await respectingRates { () async throws(RTMError) in
                try await client.publish(text, to: .channel(channel))
            }
            let line = output.transcript.line(forOwn: text, at: receipt.timestampMilliseconds)
            try await output.result(line)
        } catch let error as RTMError {
            try await report(error, "this line was not sent, \(error.reason): \(text)")
        }
    }
}
