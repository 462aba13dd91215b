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
    /// - Parameter place: with epoch 0, only the place after the newest entry is asked for.
    package mutating func feed(
        _ appID: String, after place: FeedPosition, bytesMax: Int, now: UInt64
    ) -> FeedPage {
        let sequence = channels.sequence
        let app = channels.apps.occupy(appID)
        guard place.epoch != 0 else {
            let newest = channels.apps[app].newest
            let next = FeedPosition(
                epoch: channels.firstEpoch, sequence: sequence, partition: UInt32(newest?.partition ?? 0),
                offset: newest?.offset ?? 0)
            return FeedPage(frames: ByteBuffer(), count: 0, next: next, gap: false, more: false)
        }
        let start = channels.start(ofFeed: app, after: place)
        var page = channels.apps[app].tail.page(after: start.place, bytesMax: bytesMax)
        channels.apps[app].fed = .init(
            entry: page.last ?? EntryIdentity(place), place: page.last == nil ? start.place : page.place,
            at: now)
        // Without a new entry the place is the same one, seen later.
        let lost = channels.lostSequence(of: app)
        var next = FeedPosition(
            epoch: channels.firstEpoch, sequence: page.more ? (start.gap ? lost : place.sequence) : sequence,
            partition: start.gap ? 0 : place.partition, offset: start.gap ? 0 : place.offset)
        if let last = page.last { (next.partition, next.offset) = (UInt32(last.partition), last.offset) }
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
        guard place.epoch == firstEpoch, place.sequence <= sequence else { return (.none, true) }
        let isLost = place.sequence < lostSequence(of: app)
        guard let entry = EntryIdentity(place) else { return (.none, isLost) }
        if let found = apps[app].place(of: entry) { return (found, false) }
        return (.none, apps[app].given == entry ? false : isLost)
    }
}

extension AppTable.Record {
    /// The newest entry that there was.
    fileprivate var newest: EntryIdentity? { tail.newest.map { EntryIdentity($0) } ?? given }

    /// Where the tail has the entry. Who reads the feed has mostly read the entry just before.
    fileprivate func place(of entry: EntryIdentity) -> EntryPlace? {
        if let fed, fed.entry == entry, tail.holds(fed.place) { return fed.place }
        return tail.place(of: entry)
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

    fileprivate var newest: EntryRecord? { open.records.last ?? lastSegment?.records.last }

    /// The entry is looked for from the newest one on.
    fileprivate func place(of entry: EntryIdentity) -> EntryPlace? {
        var number = open.number
        while let segment = segment(numbered: number) {
            if let index = segment.records.lastIndex(where: { EntryIdentity($0) == entry }) {
                return EntryPlace(segment: number, index: UInt32(index))
            }
            number -= 1
        }
        return nil
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
