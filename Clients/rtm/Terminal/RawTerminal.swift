import Foundation

/// The terminal in raw mode: every key arrives at once, and nothing is echoed.
///
/// Output is still processed, so a line ends with "\n" as usual.
struct RawTerminal: Sendable {
    private let original: termios

    /// Returns nil if standard input and output aren't both a terminal, or if the terminal can't be changed.
    init?() {
        var mode = termios()
        guard ConsoleStream.output.isTerminal, tcgetattr(STDIN_FILENO, &mode) == 0 else { return nil }
        original = mode
        let outputFlags = mode.c_oflag
        cfmakeraw(&mode)
        mode.c_oflag = outputFlags
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0 else { return nil }
    }

    func restore() {
        var mode = original
        _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
    }

    /// The width of the terminal. It is asked for each time, because windows change their size.
    static var columns: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
