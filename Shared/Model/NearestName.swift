/// Which known name was probably meant by an unknown one.
package enum NearestName {
    /// "; did you mean …?", or nothing when no name is near.
    package static func hint(for name: String, among known: some Collection<String>) -> String {
        nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
    }

    /// The known name with the fewest edits, if they are at most a third of its length (but always up to
    /// two).
    package static func nearest(to name: String, among known: some Collection<String>) -> String? {
        let typed = Array(name.lowercased().utf8.prefix(128))
        let ranked = known.map { ($0, distance(typed, Array($0.lowercased().utf8))) }
        guard let best = ranked.min(by: { ($0.1, $0.0) < ($1.1, $1.0) }) else { return nil }
        return best.1 <= max(2, best.0.utf8.count / 3) ? best.0 : nil
    }

    /// How many insertions, removals, replacements and swaps of neighbours lead from one name to the other.
    package static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for row in first.indices {
            var current = [row + 1]
            for column in second.indices {
                let isSame = first[row] == second[column]
                var best = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                let isSwap =
                    row > 0 && column > 0 && first[row] == second[column - 1]
                    && first[row - 1] == second[column]
                if isSwap { best = min(best, beforeLast[column - 1] + 1) }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[second.count]
    }
}
