/// How far each source has got in one log: a service that asks twice, because the first answer was lost,
/// appends once, and is told again where that is. (`HighWaterMarks` with the places.)
///
/// A source counts its appends, so its last number says which ones are in the log. A source that is started
/// anew has a new number; old ones make room, the one that has been silent for longest first.
struct AppendSources {
    /// Limit: sources remembered per log. At one time a channel has two (presence and storage); the others
    /// are former lives of theirs.
    static let countMax = 8
    /// Limit: places remembered per source. Several nodes of a service may append for one source (presence
    /// over Redis), so the one that is repeated isn't always the last; but it is one of the last.
    static let placesMax = 8

    struct Place: Equatable {
        let offset: UInt64
        let timestamp: UInt64
    }

    private struct Mark {
        let source: UInt64
        /// Of the last appends, in order.
        var places: [(sequence: UInt64, place: Place)] = []
    }

    /// The one that appended last stands at the end.
    private var marks: [Mark] = []

    var count: Int { marks.count }

    /// Where this is in the log, if it is there. One that is forgotten lies before all that are remembered.
    func place(of sequence: UInt64, from source: UInt64) -> Place? {
        guard source != 0, let mark = marks.first(where: { $0.source == source }),
            let last = mark.places.last, sequence <= last.sequence
        else { return nil }
        if let known = mark.places.last(where: { $0.sequence <= sequence }) { return known.place }
        return mark.places.first.map { Place(offset: $0.place.offset - 1, timestamp: $0.place.timestamp) }
    }

    /// It is in the log now. Source 0 doesn't ask twice.
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
