/// Names in the order of their bytes, in chunks of bounded length. Inserting a name, removing it and finding
/// the place where a page begins cost the same in a channel of a hundred users and of fifty thousand (P-35).
package struct SortedNames: Sendable {
    /// A longer chunk is split, so a change moves at most this many names.
    static let chunkMax = 512

    /// No chunk is empty.
    private var chunks: [ContiguousArray<String>] = []
    package private(set) var count = 0

    package init() {}

    /// Returns false if the name was there already.
    @discardableResult
    package mutating func insert(_ name: String) -> Bool {
        guard !chunks.isEmpty else {
            chunks = [[name]]
            count = 1
            return true
        }
        let chunk = self.chunk(for: name)
        let place = Self.place(of: name, in: chunks[chunk])
        if place < chunks[chunk].count, chunks[chunk][place] == name { return false }
        chunks[chunk].insert(name, at: place)
        count += 1
        if chunks[chunk].count > Self.chunkMax {
            let half = chunks[chunk].count / 2
            chunks.insert(ContiguousArray(chunks[chunk][half...]), at: chunk + 1)
            chunks[chunk].removeSubrange(half...)
        }
        return true
    }

    package mutating func remove(_ name: String) {
        guard !chunks.isEmpty else { return }
        let chunk = self.chunk(for: name)
        let place = Self.place(of: name, in: chunks[chunk])
        guard place < chunks[chunk].count, chunks[chunk][place] == name else { return }
        chunks[chunk].remove(at: place)
        count -= 1
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    }

    /// At most `countMax` names that come after the given one; nil begins at the first name.
    package func names(after name: String?, countMax: Int) -> [String] {
        guard !chunks.isEmpty else { return [] }
        var chunk = name.map { self.chunk(for: $0) } ?? 0
        var place = 0
        if let name {
            place = Self.place(of: name, in: chunks[chunk])
            if place < chunks[chunk].count, chunks[chunk][place] == name { place += 1 }
        }
        var names: [String] = []
        names.reserveCapacity(min(countMax, count))
        while chunk < chunks.count, names.count < countMax {
            let end = min(chunks[chunk].count, place + countMax - names.count)
            names.append(contentsOf: chunks[chunk][place..<end])
            chunk += 1
            place = 0
        }
        return names
    }

    /// The last chunk that begins at or before the name, or the first chunk if there is none.
    private func chunk(for name: String) -> Int {
        var low = 0
        var high = chunks.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if name < chunks[middle][0] { high = middle } else { low = middle }
        }
        return low
    }

    /// Where the name is, or where it belongs.
    private static func place(of name: String, in chunk: ContiguousArray<String>) -> Int {
        var low = 0
        var high = chunk.count
        while low < high {
            let middle = (low + high) / 2
            if chunk[middle] < name { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
