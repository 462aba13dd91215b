internal import Foundation

/// The terminal that a program was started from, if any. When somebody closes it, the system sends the same
/// SIGHUP with which an operator asks for a reload.
struct Terminal: Sendable {
    private let hadTerminal = Self.isThere

    /// Whether there was a terminal at the start and there is none now.
    var isGone: Bool { hadTerminal && !Self.isThere }

    private static var isThere: Bool {
        let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
