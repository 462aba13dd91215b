import RTMClient

/// Where finished lines for the user go.
protocol LineSink: Sendable {
    /// Writes a line and its end at once, so that a reader at the other end of a pipe has it.
    ///
    /// - Throws: `OutputClosed` when nobody reads any more.
    func write(line: String) async throws(OutputClosed)
}

/// Nobody reads standard output any more, as in `rtm subscribe lobby | head -1`.
struct OutputClosed: Error {}

/// How a command says things: as lines for a person, or as objects for a program.
struct Output: Sendable {
    enum Format: Sendable {
        case human
        case json
    }

    var format: Format
    var transcript: Transcript
    var sink: any LineSink = ConsoleStream.output

    func event(_ event: RTMEvent) async throws(OutputClosed) {
        // What was not asked for is no news.
        if case .presence(let presence) = event, presence.change == .errorOutOfService(.notAskedFor) {
            return
        }
        switch format {
        case .json: try await sink.write(line: event.json.description)
        case .human: if let line = transcript.line(for: event) { try await sink.write(line: line) }
        }
    }

    /// The outcome of a command, or of a part of it.
    ///
    /// - Parameter sentence: nil for what a person has seen already.
    func result(_ sentence: String?, _ json: JSON = ["result": "ok"]) async throws(OutputClosed) {
        switch format {
        case .json: try await sink.write(line: json.description)
        case .human: if let sentence { try await sink.write(line: sentence) }
        }
    }

    /// For persons only: a program has no use for it.
    func remark(_ sentence: String) async throws(OutputClosed) {
        guard format == .human else { return }
        try await sink.write(line: transcript.remark(sentence))
    }

    /// On standard error.
    func failure(_ error: RTMError) {
        let line =
            switch format {
            case .json: error.json.description
            case .human: "rtm: " + error.description.visible
            }
        // When standard error is closed too, only the exit status is left to say it.
        try? ConsoleStream.error.writeNow(line: line)
    }
}
