/// Names in the order of their bytes, in chunks of bounded length. Inserting a name, removing it and finding
/// the index where a page begins cost the same in a channel of a hundred users and of fifty thousand (P-35).
package struct SortedNames: Sendable {
    /// A longer chunk is split, so a change moves at most this many names.
    static let chunkMax = 512

    /// The first chunk, which is the only one of most channels, and the others, none of which is empty.
    /// The first one is empty only if there are no names.
    private var first = ContiguousArray<String>()
    private var others: [ContiguousArray<String>] = []
    package private(set) var count = 0

    package init() {}

    /// Returns false if the name was there already.
    @discardableResult
    package mutating func insert(_ name: String) -> Bool {
        let chunk = self.chunk(for: name)
        let index = Self.index(of: name, in: self[chunk])
        if index < self[chunk].count, self[chunk][index] == name { return false }
        self[chunk].insert(name, at: index)
        count += 1
        if self[chunk].count > Self.chunkMax {
            let half = self[chunk].count / 2
            others.insert(ContiguousArray(self[chunk][half...]), at: chunk)
            self[chunk].removeSubrange(half...)
        }
        return true
    }

    package mutating func remove(_ name: String) {
        let chunk = self.chunk(for: name)
        let index = Self.index(of: name, in: self[chunk])
        guard index < self[chunk].count, self[chunk][index] == name else { return }
        self[chunk].remove(at: index)
        count -= 1
        guard self[chunk].isEmpty else { return }
        if chunk > 0 {
            others.remove(at: chunk - 1)
        } else {
            first = others.isEmpty ? [] : others.removeFirst()
        }
    }

    /// At most `countMax` names that come after the given one; nil begins at the first name.
    package func names(after name: String?, countMax: Int) -> [String] {
        var chunk = name.map { self.chunk(for: $0) } ?? 0
        var index = 0
        if let name {
            index = Self.index(of: name, in: self[chunk])
            if index < self[chunk].count, self[chunk][index] == name { index += 1 }
        }
        var names: [String] = []
        names.reserveCapacity(min(countMax, count))
        while chunk <= others.count, names.count < countMax {
            let end = min(self[chunk].count, index + countMax - names.count)
            names.append(contentsOf: self[chunk][index..<end])
            chunk += 1
            index = 0
        }
        return names
    }

    private subscript(chunk: Int) -> ContiguousArray<String> {
        get { chunk == 0 ? first : others[chunk - 1] }
        _modify { if chunk == 0 { yield &first } else { yield &others[chunk - 1] } }
    }

    /// The last chunk that begins at or before the name, or the first chunk if there is none.
    private func chunk(for name: String) -> Int {
        var low = 0
        var high = others.count + 1
        while high - low > 1 {
            let middle = (low + high) / 2
            if name < self[middle][0] { high = middle } else { low = middle }
        }
        return low
    }

    /// Where the name is, or where it belongs.
    private static func index(of name: String, in chunk: ContiguousArray<String>) -> Int {
        var low = 0
        var high = chunk.count
        while low < high {
            let middle = (low + high) / 2
            if chunk[middle] < name { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
