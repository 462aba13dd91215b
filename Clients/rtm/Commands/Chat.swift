// A conversation in one channel. Two things happen at once: the lines that the user types are published in
// their order, and the messages of others are shown when they arrive. The publisher of a message doesn't
// receive it (M-21), so lines from a pipe or a file are shown once the server has accepted them.

import RTMClient

/// The conversation, wherever its lines come from.
struct Chat: Sendable {
    let client: RTMClient
    let channel: String
    let output: Output

    /// Publishes lines from a terminal, a pipe or a file, at the pace at which the server takes them. The end
    /// of the input ends the chat.
    func read(_ input: StandardInput) async throws {
        var splitter = LineSplitter()
        while let bytes = await input.next() {
            for line in try splitter.split(bytes) where try await !take(line) { return }
        }
        if let line = splitter.finish() { _ = try await take(line) }
    }

    /// Returns false when the user wants to leave.
    private func take(_ line: String) async throws -> Bool {
        switch ChatLine(line) {
        case .nothing: break
        case .message(let text): try await publish(text)
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
            case .json: try await output.result(nil, "users", ["users": .array(users.map(\.json))])
            }
        } catch let error as RTMError {
            try await report(error, "nobody knows who is here, \(error.reason)")
        }
    }

    /// The conversation continues after something that failed.
    private func report(_ error: RTMError, _ sentence: String) async throws {
        switch output.format {
        case .human: try await output.remark(sentence)
        case .json: output.failure(error)
        }
    }

    private func publish(_ text: String) async throws {
        do {
            let receipt = try await respectingRates { () async throws(RTMError) in
                try await client.publish(text, to: .channel(channel))
            }
            // In a terminal the user sees the line already.
            let line = output.transcript.line(forOwn: text, at: receipt.timestampMilliseconds)
            try await output.result(output.clearsTypedRow ? nil : line)
        } catch let error as RTMError {
            try await report(error, "this line was not sent, \(error.reason): \(text)")
        }
    }
}
