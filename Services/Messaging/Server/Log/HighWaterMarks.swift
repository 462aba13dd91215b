/// How far each of a few sources of one log has counted. A number that isn't above a source's last one was
/// there before, or comes late.
///
/// The owners of an inbox count their logins, so a login that arrives behind a newer one of the same client
/// is recognised. A source that is started anew has a new name. When there are too many sources, the one that
/// has been silent for longest is forgotten.
struct HighWaterMarks {
    /// Limit: sources remembered per log. A user has a few apps at a time; the other sources are earlier
    /// lives of these apps.
    static let countMax = 8

    private struct Mark {
        let source: UInt64
        var sequence: UInt64
    }

    /// The source that counted last is at the end.
    private var marks: [Mark] = []

    var count: Int { marks.count }

    /// The last number of a source; 0 if it isn't known.
    func last(of source: UInt64) -> UInt64 { marks.first { $0.source == source }?.sequence ?? 0 }

    /// Whether this number is new; if so, it is remembered. Every number of source 0 is admitted.
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
