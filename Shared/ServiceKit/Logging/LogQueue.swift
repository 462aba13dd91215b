/// The lines that wait for the thread that writes the log. Pure.
///
/// What doesn't fit is dropped and counted. Once half of the room is free again, a gap takes the place of
/// what was dropped, so the log says where lines are missing, and how many.
struct LogQueue {
    enum Element: Hashable {
        case line(String, StandardStream)
        /// So many lines were dropped here.
        case gap(Int)
    }

    /// Limit: bytes of lines that wait.
    let bytesMax: Int

    private var waiting: [Element] = []
    private var bytes = 0
    /// Lines that were dropped since the last gap.
    private var missing = 0
    private(set) var droppedCount = 0

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    var isEmpty: Bool { waiting.isEmpty && missing == 0 }

    mutating func add(_ text: String, to stream: StandardStream) {
        if missing > 0 && bytes <= bytesMax / 2 { closeGap() }
        guard missing == 0, bytes + text.utf8.count <= bytesMax else {
            missing += 1
            droppedCount += 1
            return
        }
        bytes += text.utf8.count
        waiting.append(.line(text, stream))
    }

    /// Takes everything that waits. It keeps its room until it is `written`.
    mutating func take() -> [Element] {
        if waiting.isEmpty && missing > 0 { closeGap() }
        defer { waiting = [] }
        return waiting
    }

    mutating func written(_ element: Element) {
        if case .line(let text, _) = element { bytes -= text.utf8.count }
    }

    private mutating func closeGap() {
        waiting.append(.gap(missing))
        missing = 0
    }
}
