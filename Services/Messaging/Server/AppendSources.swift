/// How far each source has got in one log: a service that asks twice, because the first answer was lost,
/// appends once.
///
/// A source counts its appends, so its last number says which ones are in the log. A source that is started
/// anew has a new number; old ones make room, the one that has been silent for longest first.
struct AppendSources {
    /// Limit: sources remembered per log. At one time a channel has two (presence and storage); the others
    /// are former lives of theirs.
    static let countMax = 8

    private struct Mark {
        let source: UInt64
        var sequence: UInt64
    }

    /// The one that appended last stands at the end.
    private var marks: [Mark] = []

    var count: Int { marks.count }

    /// Whether this is to be appended; then it is remembered. Source 0 doesn't ask twice.
    mutating func admits(_ source: UInt64, _ sequence: UInt64) -> Bool {
        guard source != 0 else { return true }
        guard let place = marks.firstIndex(where: { $0.source == source }) else {
            if marks.count == Self.countMax { marks.removeFirst() }
            marks.append(Mark(source: source, sequence: sequence))
            return true
        }
        guard sequence > marks[place].sequence else { return false }
        var mark = marks.remove(at: place)
        mark.sequence = sequence
        marks.append(mark)
        return true
    }
}
