/// The meaning of a line that was typed in a chat.
enum ChatLine: Sendable, Hashable {
    case nothing
    case message(String)
    case quit
    case help
    /// The user asks who is in the channel.
    case who
    case unknown(String)

    /// Reads a line. A text that begins with a slash is written with two slashes.
    init(_ line: String) {
        guard line.hasPrefix("/") else {
            self = line.allSatisfy(\.isWhitespace) ? .nothing : .message(line)
            return
        }
        if line.hasPrefix("//") {
            self = .message(String(line.dropFirst()))
            return
        }
        let word = String(line.prefix { !$0.isWhitespace })
        switch word {
        case "/quit", "/exit": self = .quit
        case "/help": self = .help
        case "/who": self = .who
        default: self = .unknown(word)
        }
    }

    static let helpText =
        "/who lists who is here; /quit or Ctrl-D leaves; a text that begins with '/' is written with '//'"
}
