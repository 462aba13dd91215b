package import NIOCore
import RTMModel
package import RTMWire

/// The entries of all channels of an app, in the order in which they came. Storage collects them as the app's
/// events (decision 0026).
///
/// Nothing is kept for it: the tail of the app is that order, and a journal has it, too. A place in it is
/// named by the newest entry before it, and by how many entries of all apps the shard had then. The first one
/// finds the place. The second one says whether something is lost when that entry is gone.
extension Broker {
    package struct FeedPage {
        /// Whole frames for clients, one behind the other.
        package let frames: ByteBuffer
        package let count: Int
        package let next: FeedPosition
        /// Whether entries behind the given place are lost.
        package let gap: Bool
        package let more: Bool

        package var isEmpty: Bool { count == 0 && !gap }
    }

    /// The entries after a place, up to `bytesMax` bytes but at least one entry.
    ///
    /// - Parameter place: with epoch 0, nothing was read before: the feed begins with what the tail has.
    package mutating func feed(
        _ appID: String, after place: FeedPosition, bytesMax: Int, now: UInt64
    ) -> FeedPage {
        let sequence = channels.sequence
        let app = channels.apps.occupy(appID)
        let start = channels.start(ofFeed: app, after: place)
        var page = channels.apps[app].tail.page(after: start.place, bytesMax: bytesMax)
        let entry =
            page.last ?? (start.gap ? channels.apps[app].entry(at: start.place) : EntryIdentity(place))
        channels.apps[app].fed = .init(
            entry: entry, place: page.last == nil ? start.place : page.place, at: now)
        // Without a new entry the place is the same one, seen later.
        let lost = channels.lostSequence(of: app)
        let next = FeedPosition(
            epoch: channels.firstEpoch, sequence: page.more ? (start.gap ? lost : place.sequence) : sequence,
            partition: UInt32(entry?.partition ?? 0), offset: entry?.offset ?? 0)
        page.frames.discardReadBytes()
        return FeedPage(
            frames: page.frames, count: page.count, next: next, gap: start.gap, more: page.more)
    }

    /// The number by which the broker knows an app; nil if it doesn't.
    package func number(ofApp id: String) -> Int? { channels.apps.number(of: id) }
}

/// What identifies an entry within its shard.
struct EntryIdentity: Hashable {
    let partition: UInt16
    let offset: UInt64

    init(partition: UInt16, offset: UInt64) { (self.partition, self.offset) = (partition, offset) }

    /// Nil if there was no entry before the place.
    init?(_ place: FeedPosition) {
        guard place.offset > 0, let partition = UInt16(exactly: place.partition) else { return nil }
        self.init(partition: partition, offset: place.offset)
    }

    init(_ record: EntryRecord) { self.init(partition: record.channel.partition, offset: record.offset) }
}

extension LogTable {
    /// How many entries the shard has had, of all apps.
    var sequence: UInt64 { partitions.reduce(0) { $0 + $1.head } }

    /// No entry that came later than the sequence is lost.
    func lostSequence(of app: Int) -> UInt64 { max(knownFrom, apps[app].lostSequence) }

    /// Where the feed of an app continues.
    ///
    /// - Returns: the place of the entry before, `.none` for the beginning of the tail.
    fileprivate func start(ofFeed app: Int, after place: FeedPosition) -> (place: EntryPlace, gap: Bool) {
        guard place.epoch != 0 else { return (.none, false) }
        guard place.epoch == firstEpoch else { return (.none, true) }
        // The logs have gone back in time. What they had when the term began may have been read before.
        guard place.sequence <= sequence else { return (apps[app].beforeTerm, true) }
        let isLost = place.sequence < lostSequence(of: app)
        guard let entry = EntryIdentity(place) else { return (.none, isLost) }
        switch apps[app].find(entry) {
        case .at(let found): return (found, false)
        case .replaced: return (apps[app].beforeTerm, true)
        case .before where apps[app].given == entry: return (.none, false)
        case .before where isLost: return (.none, true)
        // What isn't in the tail, wasn't given up and is behind the beginning of the journal, was never here.
        case .before where entry.offset > (apps.unknown[entry.partition]?.head ?? 0):
            return (apps[app].beforeTerm, true)
        case .before: return (.none, false)
        }
    }
}

extension AppTable.Record {
    /// Nil if the tail doesn't have it.
    fileprivate func entry(at place: EntryPlace) -> EntryIdentity? {
        tail.holds(place) ? EntryIdentity(tail.record(at: place)) : nil
    }

    /// Where the tail has the entry. Mostly it is the one up to which the feed was read just before.
    fileprivate func find(_ entry: EntryIdentity) -> EntryTail.Found {
        if let fed, fed.entry == entry, tail.holds(fed.place) { return .at(fed.place) }
        return tail.find(entry)
    }
}

extension EntryTail {
    struct Page {
        var frames = ByteBuffer()
        var count = 0
        var last: EntryIdentity?
        /// Where the tail has the last entry.
        var place = EntryPlace.none
        var more = false
    }

    enum Found {
        case at(EntryPlace)
        /// The entry came before the oldest one of the tail.
        case before
        /// The tail has older entries of the partition, and not this one: it came in a history that was lost.
        case replaced
    }

    /// The entry is looked for from the newest one on.
    fileprivate func find(_ entry: EntryIdentity) -> Found {
        var number = open.number
        while let segment = segment(numbered: number) {
            let found = segment.records.lastIndex {
                $0.channel.partition == entry.partition && $0.offset <= entry.offset
            }
            if let found {
                guard segment.records[found].offset == entry.offset else { return .replaced }
                return .at(EntryPlace(segment: number, index: UInt32(found)))
            }
            number -= 1
        }
        return .before
    }

    /// The entries behind a place, of all channels.
    fileprivate func page(after place: EntryPlace, bytesMax: Int) -> Page {
        var page = Page()
        var number = place.segment
        while let segment = firstSegment(from: number) {
            let first = segment.number == place.segment ? Int(place.index) + 1 : 0
            for index in segment.records.indices.dropFirst(first) {
                let record = segment.records[index]
                if page.count > 0, page.frames.readableBytes + Int(record.length) > bytesMax {
                    page.more = true
                    return page
                }
                guard
                    let frame = segment.frames.getSlice(at: Int(record.start), length: Int(record.length))
                else { continue }
                page.frames.writeImmutableBuffer(frame)
                page.count += 1
                page.last = EntryIdentity(record)
                page.place = EntryPlace(segment: segment.number, index: UInt32(index))
            }
            number = segment.number + 1
        }
        return page
    }
}
