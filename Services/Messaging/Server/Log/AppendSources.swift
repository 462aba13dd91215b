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

    private struct Append {
        let source: UInt64
        let sequence: UInt64
        let position: Position
    }

    /// The appends of all sources, in order.
    private var appends: [Append] = []

    var count: Int { Set(appends.map(\.source)).count }

    /// The position of the append with this number in the log, or nil if it isn't there. An append whose
    /// position is forgotten lies before all remembered ones.
    func position(of sequence: UInt64, from source: UInt64) -> Position? {
        guard source != 0, let last = appends.last(where: { $0.source == source }), sequence <= last.sequence
        else { return nil }
        let known = appends.last { $0.source == source && $0.sequence <= sequence }
        if let known { return known.position }
        return appends.first { $0.source == source }.map {
            Position(offset: $0.position.offset - 1, timestamp: $0.position.timestamp)
        }
    }

    /// Who appended the event at this offset, and under which number; nil if that isn't remembered.
    func append(at offset: UInt64) -> (source: UInt64, sequence: UInt64)? {
        appends.last { $0.position.offset == offset }.map { ($0.source, $0.sequence) }
    }

    /// Remembers that the append is in the log now. Source 0 never repeats an append, so nothing is
    /// remembered of it.
    mutating func appended(_ sequence: UInt64, from source: UInt64, at position: Position) {
        guard source != 0 else { return }
        let ofSource = appends.count { $0.source == source }
        if ofSource == 0, count == Self.countMax {
            forgetMostSilent()
        } else if ofSource == Self.positionsMax {
            if let oldest = appends.firstIndex(where: { $0.source == source }) { appends.remove(at: oldest) }
        }
        appends.append(Append(source: source, sequence: sequence, position: position))
    }

    private mutating func forgetMostSilent() {
        var seen: Set<UInt64> = []
        let mostSilent = appends.reversed().last { seen.insert($0.source).inserted }?.source
        appends.removeAll { $0.source == mostSilent }
    }
}
