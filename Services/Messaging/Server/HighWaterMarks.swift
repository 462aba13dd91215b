/// How far each of a few sources of one log has counted: what isn't above a source's last number was there
/// before, or is late.
///
/// Services count their appends, so that one who asks twice, because the first answer was lost, appends once.
/// The holders of an inbox count their logins, so that one who comes late, behind a newer one of the same
/// client, is known. A source that is started anew has a new name; old ones make room, the one that has been
/// silent for longest first.
struct HighWaterMarks {
    /// Limit: sources remembered per log. At one time a channel has two (presence and storage), and a user
    /// has a few apps; the others are former lives of theirs.
    static let countMax = 8

    private struct Mark {
        let source: UInt64
        var sequence: UInt64
    }

    /// The one that counted last stands at the end.
    private var marks: [Mark] = []

    var count: Int { marks.count }

    /// Whether this is new; then it is remembered. Source 0 doesn't count.
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
