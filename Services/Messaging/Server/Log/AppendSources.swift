/// How far each source has got in one log. A service repeats an append when its answer was lost; the repeated
/// append is not written again and is answered with the place of the first one. (`HighWaterMarks` does the
/// same without the places.)
///
/// A source counts its appends, so its last number says which ones are in the log. A source that is started
/// anew has a new number. When there are too many sources, the one that has been silent for longest makes
/// room.
struct AppendSources {
    /// Limit: sources remembered per log. A channel has two at a time (presence and storage); the others are
    /// earlier lives of these two.
    static let countMax = 8
    /// Limit: places remembered per source. Several nodes of a service may append for one source (presence
    /// over Redis), so the repeated append isn't always the last one, but it is one of the last few.
    static let placesMax = 8

    struct Place: Equatable {
        let offset: UInt64
        let timestamp: UInt64
    }

    private struct Mark {
        let source: UInt64
        /// The places of the source's last appends, in order.
        var places: [(sequence: UInt64, place: Place)] = []
    }

    /// The source that appended last stands at the end.
    private var marks: [Mark] = []

    var count: Int { marks.count }

    /// Where the append with this number stands in the log, or nil if it isn't there. An append whose place
    /// is forgotten stands before all remembered ones.
    func place(of sequence: UInt64, from source: UInt64) -> Place? {
        guard source != 0, let mark = marks.first(where: { $0.source == source }),
            let last = mark.places.last, sequence <= last.sequence
        else { return nil }
        if let known = mark.places.last(where: { $0.sequence <= sequence }) { return known.place }
        return mark.places.first.map { Place(offset: $0.place.offset - 1, timestamp: $0.place.timestamp) }
    }

    /// Remembers that the append is in the log now. Source 0 never repeats an append, so nothing is
    /// remembered of it.
    mutating func appended(_ sequence: UInt64, from source: UInt64, at place: Place) {
        guard source != 0 else { return }
        var mark = Mark(source: source)
        if let index = marks.firstIndex(where: { $0.source == source }) {
            mark = marks.remove(at: index)
        } else if marks.count == Self.countMax {
            marks.removeFirst()
        }
        if mark.places.count == Self.placesMax { mark.places.removeFirst() }
        mark.places.append((sequence, place))
        marks.append(mark)
    }
}
