/// A terminal whose last row is the line being typed. Other output appears above it and leaves it as it is.
actor PromptScreen: LineSink {
    private static let prompt = "> "
    /// Moves to the beginning of the row and empties the row.
    private static let emptyRow = "\r\u{1B}[K"

    private let stream: ConsoleStream
    private let columns: @Sendable () -> Int
    private var decoder = KeyDecoder()
    private var editor = LineEditor()
    private var isPromptShown = false

    init(
        stream: ConsoleStream = .output, columns: @escaping @Sendable () -> Int = { RawTerminal.columns }
    ) {
        self.stream = stream
        self.columns = columns
    }

    func write(line: String) async throws(OutputClosed) {
        let prompt = isPromptShown ? promptRow : ""
        try stream.writeNow(Self.emptyRow + line + "\n" + prompt)
    }

    func showPrompt() throws(OutputClosed) {
        isPromptShown = true
        try stream.writeNow(promptRow)
    }

    func hidePrompt() throws(OutputClosed) {
        isPromptShown = false
        try stream.writeNow(Self.emptyRow)
    }

    /// Takes the bytes that the terminal has sent. Returns the lines that they finished, and whether the user
    /// wants to leave.
    func type(_ bytes: [UInt8]) throws(OutputClosed) -> (lines: [String], leaves: Bool) {
        var lines: [String] = []
        var leaves = false
        for key in decoder.decode(bytes) where !leaves {
            switch editor.press(key) {
            case .nothing, .changed: break
            case .clearScreen: try stream.writeNow("\u{1B}[2J\u{1B}[H")
            case .submit(let line): lines.append(line)
            case .leave: leaves = true
            }
        }
        try stream.writeNow(promptRow)
        return (lines, leaves)
    }

    private var promptRow: String {
        let view = editor.view(columns: columns() - Self.prompt.count)
        let column = Self.prompt.count + view.cursorColumn
        return Self.emptyRow + Self.prompt + view.text + "\r\u{1B}[\(column)C"
    }
}
