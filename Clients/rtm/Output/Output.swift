import RTMClient

/// Nobody reads standard output any more, as in `rtm subscribe lobby | head -1`.
struct OutputClosed: Error {}

/// Why a command failed, as it is written to standard error.
protocol CommandFailure: Error, CustomStringConvertible {
    /// An object with the field `error`.
    var json: JSON { get }
}

extension RTMError: CommandFailure {}

/// How a command writes its results: as lines for a person, or as objects for a program.
struct Output: Sendable {
    enum Format: Sendable {
        case human
        case json
    }

    var format: Format
    var transcript: Transcript
    /// Whether the user types in the terminal that shows the output. A line then begins with an empty row, in
    /// place of what the user has typed so far; Ctrl-R shows that again.
    var clearsTypedRow = false

    func event(_ event: RTMEvent) async throws(OutputClosed) {
        // A subscription without presence gets this event, but the user didn't ask for presence.
        if case .presence(let presence) = event, presence.change == .outage(.notAskedFor) {
            return
        }
        switch (format, transcript.line(for: event)) {
        case (.json, _): try write(event.json.description)
        // How the link fares is no result. Where nobody reads about it, the events come all the same.
        case (.human, let line?) where event.isAboutLink: try? write(line, to: .error)
        case (.human, let line?): try write(line)
        case (.human, nil): break
        }
    }

    /// Writes the outcome of a command, or of a part of it.
    ///
    /// - Parameters:
    ///   - sentence: the text for a person; nil for what a person has already seen.
    ///   - kind: what the line is about, for a program.
    func result(
        _ sentence: String?, _ kind: String = "result", _ json: JSON = ["result": "ok"]
    ) async throws(OutputClosed) {
        switch format {
        case .json: try write(json.event(kind).description)
        case .human: if let sentence { try write(sentence) }
        }
    }

    /// Writes what a command has reached before it continues: to a program as every event, to a person on
    /// standard error, so that standard output has nothing but what was asked for.
    func status(_ sentence: String, _ kind: String, _ json: JSON) async throws(OutputClosed) {
        switch format {
        case .json: try write(json.event(kind).description)
        case .human: notice(sentence)
        }
    }

    /// Writes a line and its end at once, so that a reader at the other end of a pipe has it.
    private func write(_ line: String, to stream: ConsoleStream = .output) throws(OutputClosed) {
        try stream.writeNow(line: clearsTypedRow ? "\r\u{1B}[K" + line : line)
    }

    /// Writes a remark for a person. A program has no use for it.
    func remark(_ sentence: String) async throws(OutputClosed) {
        guard format == .human else { return }
        try write(transcript.remark(sentence))
    }

    /// Writes a remark about what the command is doing to standard error. A program has no use for it.
    func notice(_ sentence: String) {
        guard format == .human else { return }
        try? ConsoleStream.error.writeNow(line: "rtm: " + sentence.visible)
    }

    /// Writes an error to standard error.
    func failure(_ error: any CommandFailure) {
        let line =
            switch format {
            case .json: error.json.event("error").description
            case .human: "rtm: " + error.description.visible
            }
        // If standard error is closed, too, only the exit status can report it.
        try? ConsoleStream.error.writeNow(line: line)
    }
}

extension RTMEvent {
    fileprivate var isAboutLink: Bool {
        switch self {
        case .linkState, .tokenWillExpire: true
        default: false
        }
    }
}

extension JSON {
    /// The object with its kind in front, which every line has.
    fileprivate func event(_ kind: String) -> JSON {
        guard case .object(let fields) = self, fields.first?.name != "event" else { return self }
        return .object([Field(name: "event", value: .string(kind))] + fields)
    }
}
