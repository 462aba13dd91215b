package import NIOCore

/// Which long answers of a service may begin. An answer that has begun is sent whatever waits for its link,
/// so one begins only while the link has room for it. The others wait, those of each app and each caller in
/// turn: a link is shared by all apps, and without this whoever asks for much would fill its queue, which
/// ends it for everybody. Pure.
package struct AnswerTurns<Work> {
    /// An answer that has been asked for.
    package struct Turn {
        package let work: Work
        package let app: String
        package let caller: String
        /// How long the answer may be.
        package let bytesMax: Int
        /// When nobody waits for the answer any more.
        package let deadline: NIODeadline

        package init(_ work: Work, app: String, caller: String, bytesMax: Int, deadline: NIODeadline) {
            (self.work, self.app, self.caller) = (work, app, caller)
            (self.bytesMax, self.deadline) = (bytesMax, deadline)
        }
    }

    package enum Decision: Hashable {
        case begin
        case wait
        /// As many answers as this limit wait already.
        case refuse(waitingMax: Int)
    }

    private struct Window {
        /// The bytes of the answers that have begun, at most.
        var bytes = 0
        var waiting: FairQueue<Turn>
    }

    private let windowBytes: Int
    private let limits: FairQueue<Turn>.Limits
    private var windows: [UInt64: Window] = [:]

    /// - Parameter windowBytes: how much may wait for a link before the next answer begins.
    package init(
        windowBytes: Int = 4 << 20,
        _ limits: FairQueue<Turn>.Limits = .init(perCaller: 4_096, perApp: 16_384, total: 65_536)
    ) {
        (self.windowBytes, self.limits) = (windowBytes, limits)
    }

    /// How many answers wait for their turn.
    package var waitingCount: Int { windows.values.reduce(0) { $0 + $1.waiting.count } }

    /// - Parameter queuedBytes: how much waits for the link already.
    package mutating func ask(_ turn: Turn, of id: UInt64, queuedBytes: Int) -> Decision {
        var link = windows.removeValue(forKey: id) ?? Window(waiting: FairQueue(limits))
        defer { windows[id] = link }
        guard !link.waiting.isEmpty || !fits(turn.bytesMax, link, queuedBytes) else {
            link.bytes += turn.bytesMax
            return .begin
        }
        return link.waiting.put(turn, of: turn.app, by: turn.caller).map { .refuse(waitingMax: $0) } ?? .wait
    }

    /// An answer is sent, or won't be.
    package mutating func ended(_ bytesMax: Int, of id: UInt64) { windows[id]?.bytes -= bytesMax }

    /// The next answer that may begin; nil if none waits, or if the link has no room.
    package mutating func next(of id: UInt64, queuedBytes: @autoclosure () -> Int) -> Turn? {
        guard let link = windows[id], let first = link.waiting.first,
            fits(first.bytesMax, link, queuedBytes())
        else { return nil }
        windows[id]?.bytes += first.bytesMax
        return windows[id]?.waiting.popFirst()
    }

    package mutating func linkClosed(_ id: UInt64) { windows[id] = nil }

    /// A link on which nothing waits has room for any answer.
    private func fits(_ bytesMax: Int, _ window: Window, _ queuedBytes: Int) -> Bool {
        let bytes = window.bytes + queuedBytes
        return bytes == 0 || bytes + bytesMax <= windowBytes
    }
}
