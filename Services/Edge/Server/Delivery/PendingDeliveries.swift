import RTMWire

/// The batches of a turn, one for each channel with entries, in the order in which their first entries came.
///
/// Batches stay where they are and are used again, so that a turn allocates nothing but frames. Moving a
/// batch of five fields to its channel and back cost a fifth of all instructions of a delivery.
struct TurnBatches {
    private struct Gathered {
        /// Where the channel lies in the table.
        var place: Int
        var batch = DeliveryBatch()
    }

    /// Limit: batches that are kept for the next turn. A turn with entries of more channels makes new ones.
    private static let spareMax = 64

    /// The batches of this turn, and behind them those that are kept.
    private var gathered: [Gathered] = []
    private var count = 0

    /// The numbers of this turn's batches.
    var numbers: Range<Int> { 0..<count }

    subscript(number: Int) -> DeliveryBatch {
        get { gathered[number].batch }
        _modify { yield &gathered[number].batch }
    }

    func place(of number: Int) -> Int { gathered[number].place }

    /// Begins the batch of a channel, and returns its number.
    mutating func begin(for place: Int) -> Int {
        if count < gathered.count {
            gathered[count].place = place
        } else {
            gathered.append(Gathered(place: place))
        }
        count += 1
        return count - 1
    }

    /// Takes a batch out before the turn ends. An empty one stays in its place.
    mutating func take(_ number: Int) -> DeliveryBatch {
        var taken = DeliveryBatch()
        swap(&taken, &gathered[number].batch)
        return taken
    }

    /// Every batch was handed out.
    mutating func end() {
        count = 0
        if gathered.count > Self.spareMax { gathered.removeLast(gathered.count - Self.spareMax) }
    }
}
