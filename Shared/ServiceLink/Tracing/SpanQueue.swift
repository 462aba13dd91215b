import Synchronization

/// Spans that wait for the exporter. Any thread may use it.
package final class SpanQueue: Sendable {
    private let countMax: Int
    private let spans = Mutex<[Span]>([])
    private let dropped: @Sendable () -> Void

    /// - Parameters:
    ///   - countMax: how many spans wait. One more is dropped.
    ///   - dropped: called for each of them.
    package init(countMax: Int = 8_192, dropped: @escaping @Sendable () -> Void) {
        self.countMax = countMax
        self.dropped = dropped
    }

    package func add(_ span: Span) {
        let isTaken = spans.withLock { spans in
            guard spans.count < countMax else { return false }
            spans.append(span)
            return true
        }
        if !isTaken { dropped() }
    }

    /// The oldest ones, at most so many.
    package func take(_ count: Int) -> [Span] {
        spans.withLock { spans in
            let first = Array(spans.prefix(count))
            spans.removeFirst(first.count)
            return first
        }
    }
}
