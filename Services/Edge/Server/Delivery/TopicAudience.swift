import RTMModel

/// Who wants whose messages in one topic (C-8): each subscriber names the publishers.
///
/// The publishers that any subscriber wants have small numbers, so what a subscriber wants is a set of bits,
/// and a turn's batch is compared with it in a few steps. A number belongs to a publisher as long as anybody
/// wants him. Pure.
struct TopicAudience {
    private struct Publisher {
        let number: Int
        var subscriberCount: Int
    }

    private var publishers: [String: Publisher] = [:]
    private var free: [Int] = []
    private var wanted: [SessionID: (names: [String], numbers: PublisherSet)] = [:]

    var isEmpty: Bool { wanted.isEmpty }

    /// The subscriber wants these publishers from now on, and no others.
    mutating func set(_ names: [String], of subscriber: SessionID) {
        remove(subscriber)
        var numbers = PublisherSet()
        let names = Array(Set(names))
        for name in names { numbers.insert(occupy(name)) }
        wanted[subscriber] = (names, numbers)
    }

    mutating func remove(_ subscriber: SessionID) {
        guard let (names, _) = wanted.removeValue(forKey: subscriber) else { return }
        for name in names { release(name) }
    }

    /// The number of a publisher; nil if no subscriber wants him.
    func number(of publisher: String) -> Int? { publishers[publisher]?.number }

    func wants(_ subscriber: SessionID, _ publisher: Int) -> Bool {
        wanted[subscriber]?.numbers.contains(publisher) ?? false
    }

    func wants(_ subscriber: SessionID, all publishers: PublisherSet) -> Bool {
        wanted[subscriber]?.numbers.isSuperset(of: publishers) ?? publishers.isEmpty
    }

    private mutating func occupy(_ name: String) -> Int {
        if var present = publishers[name] {
            present.subscriberCount += 1
            publishers[name] = present
            return present.number
        }
        let number = free.popLast() ?? publishers.count
        publishers[name] = Publisher(number: number, subscriberCount: 1)
        return number
    }

    private mutating func release(_ name: String) {
        guard var publisher = publishers[name] else { return }
        publisher.subscriberCount -= 1
        publishers[name] = publisher.subscriberCount > 0 ? publisher : nil
        if publisher.subscriberCount == 0 { free.append(publisher.number) }
    }
}

/// Publishers of a topic by their numbers.
struct PublisherSet: Hashable {
    /// Numbers below 64, of which most topics have no others.
    private var low: UInt64 = 0
    private var high: [UInt64] = []

    var isEmpty: Bool { low == 0 && high.allSatisfy { $0 == 0 } }

    mutating func insert(_ number: Int) {
        guard number >= 64 else {
            low |= 1 << UInt64(number)
            return
        }
        while high.count < number / 64 { high.append(0) }
        high[number / 64 - 1] |= 1 << UInt64(number % 64)
    }

    func contains(_ number: Int) -> Bool { word(number / 64) & 1 << UInt64(number % 64) != 0 }

    func isSuperset(of other: PublisherSet) -> Bool {
        guard low & other.low == other.low else { return false }
        return other.high.indices.allSatisfy { word($0 + 1) & other.high[$0] == other.high[$0] }
    }

    private func word(_ index: Int) -> UInt64 {
        guard index > 0 else { return low }
        return index <= high.count ? high[index - 1] : 0
    }
}
