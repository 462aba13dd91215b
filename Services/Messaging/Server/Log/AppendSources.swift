/// How far each source has got in one log. A service repeats an append when its answer was lost; the repeated
/// append is not written again and is answered with the position of the first one. (`HighWaterMarks` does the
/// same without positions.)
///
/// A source counts its appends, so its last number says which ones are in the log. A source that is started
/// anew has a new number. When there are too many sources, the one that has been silent for longest is
/// forgotten.
struct AppendSources {
    /// Limit: sources remembered per log. A channel has two at a time (presence and storage); the others are
    /// earlier lives of these two.
    static let countMax = 8
    /// Limit: positions remembered per source. Several nodes of a service may append for one source (presence
    /// over Redis), so the repeated append isn't always the last one, but it is one of the last few.
    static let positionsMax = 8

    struct Position: Equatable {
        let offset: UInt64
        let timestamp: UInt64
    }

    private struct Mark {
        let source: UInt64
        /// The positions of the source's last appends, in order.
        var positions: [(sequence: UInt64, position: Position)] = []
    }

    /// The source that appended last is at the end.
    private var marks: [Mark] = []

    var count: Int { marks.count }

    /// The position of the append with this number in the log, or nil if it isn't there. An append whose
    /// position is forgotten lies before all remembered ones.
    func position(of sequence: UInt64, from source: UInt64) -> Position? {
        guard source != 0, let mark = marks.first(where: { $0.source == source }),
            let last = mark.positions.last, sequence <= last.sequence
        else { return nil }
        if let known = mark.positions.last(where: { $0.sequence <= sequence }) { return known.position }
        return mark.positions.first.map {
            Position(offset: $0.position.offset - 1, timestamp: $0.position.timestamp)
        }
    }

    /// Remembers that the append is in the log now. Source 0 never repeats an append, so nothing is
    /// remembered of it.
    mutating func appended(_ sequence: UInt64, from source: UInt64, at position: Position) {
        guard source != 0 else { return }
        var mark = Mark(source: source)
        if let index = marks.firstIndex(where: { $0.source == source }) {
            mark = marks.remove(at: index)
        } else if marks.count == Self.countMax {
            marks.removeFirst()
        }
        if mark.positions.count == Self.positionsMax { mark.positions.removeFirst() }
        mark.positions.append((sequence, position))
        marks.append(mark)
    }
}
