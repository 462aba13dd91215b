import RTMClient

/// A place where finished lines for the user go.
protocol LineSink: Sendable {
    /// Writes a line and its end at once, so that a reader at the other end of a pipe has it.
    ///
    /// - Throws: `OutputClosed` when nobody reads any more.
    func write(line: String) async throws(OutputClosed)
}

/// Nobody reads standard output any more, as in `rtm subscribe lobby | head -1`.
struct OutputClosed: Error {}

/// How a command writes its results: as lines for a person, or as objects for a program.
struct Output: Sendable {
    enum Format: Sendable {
        case human
        case json
    }

    var format: Format
    var transcript: Transcript
    var sink: any LineSink = ConsoleStream.output

    func event(_ event: RTMEvent) async throws(OutputClosed) {
        // A subscription without presence gets this event, but the user didn't ask for presence.
        if case .presence(let presence) = event, presence.change == .errorOutOfService(.notAskedFor) {
            return
        }
        switch format {
        case .json: try await sink.write(line: event.json.description)
        case .human: if let line = transcript.line(for: event) { try await sink.write(line: line) }
        }
    }

    /// Writes the outcome of a command, or of a part of it.
    ///
    /// - Parameter sentence: the text for a person; nil for what a person has already seen.
    func result(_ sentence: String?, _ json: JSON = ["result": "ok"]) async throws(OutputClosed) {
        switch format {
        case .json: try await sink.write(line: json.description)
        case .human: if let sentence { try await sink.write(line: sentence) }
        }
    }

    /// Writes a remark for a person. A program has no use for it.
    func remark(_ sentence: String) async throws(OutputClosed) {
        guard format == .human else { return }
        try await sink.write(line: transcript.remark(sentence))
    }

    /// Writes a remark about what the command is doing to standard error. A program has no use for it.
    func notice(_ sentence: String) {
        guard format == .human else { return }
        try? ConsoleStream.error.writeNow(line: "rtm: " + sentence.visible)
    }

    /// Writes an error to standard error.
    func failure(_ error: RTMError) {
        let line =
            switch format {
            case .json: error.json.description
            case .human: "rtm: " + error.description.visible
            }
        // If standard error is closed, too, only the exit status can report it.
        try? ConsoleStream.error.writeNow(line: line)
    }
}
