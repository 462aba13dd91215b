import Foundation
import RTMModel
import Testing

@testable import RTMClient

@Suite("Lines of an outbox's file")
struct OutboxRecordTests {
    private static let owner = OutboxOwner(app: "demo", user: "alice")
    private static let id = OutboxMessage.ID(origin: (1 << 53) - 1, sequence: 7)
    private static let messages = [
        OutboxMessage(
            id: id, payload: .text("häuser\n\u{0}"), destination: .channel("room"), customType: "a",
            storeInHistory: true),
        OutboxMessage(id: id, payload: .data(Data([0, 255, 10])), destination: .user("anna")),
        OutboxMessage(id: id, payload: .text(""), destination: .channel("stage")),
        OutboxMessage(
            id: id, payload: .data(Data(repeating: 1, count: Limits.messageBytesMax)),
            destination: .channel("room")),
    ]
    private static let records =
        messages.map(OutboxRecord.added)
        + [.begun(id, .init(atMilliseconds: 1_700_000_000_000, epoch: .max)), .notSent(id), .ended(id)]

    private func file(_ records: [OutboxRecord], owner: OutboxOwner = owner) -> Data {
        records.reduce(owner.line) { $0 + $1.line }
    }

    @Test("A file is read as it was written")
    func read() throws {
        let file = file(Self.records)
        let content = try OutboxContent(of: file, owner: Self.owner)
        #expect(content.records == Self.records)
        #expect(content.byteCount == file.count)
    }

    @Test("A file of something else, of another user or another version is refused, and says why")
    func foreign() throws {
        let own = file([])
        let refused: [(Data, String)] = [
            (Data("{\"a\": 1}".utf8), "not an outbox"), (own.dropLast(), "not an outbox"),
            (own.dropFirst(), "not an outbox"), (file([], owner: .init(app: "demo", user: "bob")), "bob"),
            (file([], owner: .init(app: "other", user: "alice")), "other"),
        ]
        for (file, words) in refused {
            do throws(RTMError) {
                _ = try OutboxContent(of: file, owner: Self.owner)
                Issue.record("\(String(decoding: file, as: UTF8.self)) was read")
            } catch {
                #expect(error.code == .invalidParameter)
                #expect(error.reason.contains(words))
            }
        }
    }

    @Test("Cut after any byte, a file loses no line before the cut")
    func cut() throws {
        let records = Self.records.filter { $0.line.count < 1_000 }
        let file = file(records)
        var ends = [Self.owner.line.count]
        for record in records { ends.append(ends[ends.count - 1] + record.line.count) }
        for count in ends[0]...file.count {
            let content = try OutboxContent(of: file.prefix(count), owner: Self.owner)
            let whole = try #require(ends.lastIndex { $0 <= count })
            #expect(content.records == Array(records.prefix(whole)))
            #expect(content.byteCount == ends[whole])
        }
    }

    @Test("A damaged byte costs its line, or two where it was their border, and no other")
    func damaged() throws {
        let records = Self.records.filter { $0.line.count < 1_000 }
        let file = file(records)
        var start = Self.owner.line.count
        for (number, record) in records.enumerated() {
            let end = start + record.line.count
            for place in start..<end {
                var damaged = file
                damaged[place] ^= 0x40
                let content = try OutboxContent(of: damaged, owner: Self.owner)
                let isBorder = place == end - 1
                let left = records.prefix(number) + records.dropFirst(number + (isBorder ? 2 : 1))
                #expect(content.records == Array(left))
                // What is damaged at the end counts as what a crash has left there.
                let isAtEnd = number + (isBorder ? 2 : 1) >= records.count
                #expect(content.damagedLines >= (isAtEnd ? 0 : 1))
                #expect(content.byteCount <= file.count)
            }
            start = end
        }
    }
}
