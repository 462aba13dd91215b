internal import Foundation

/// The terminal that a program was started from, if any. When somebody closes it, the system sends the same
/// SIGHUP with which an operator asks for a reload. A program that was started to survive its terminal, as by
/// `nohup`, takes every SIGHUP for a request.
struct Terminal: Sendable {
    private let endsWithTerminal = Self.isThere && !Self.ignoresHangUp

    /// Whether there was a terminal at the start and there is none now.
    var isGone: Bool { endsWithTerminal && !Self.isThere }

    private static var ignoresHangUp: Bool {
        // Only whoever sets a handler learns of the one before. The signals' source ignores it, too.
        unsafeBitCast(signal(SIGHUP, SIG_IGN), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static var isThere: Bool {
        let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}
