import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// Readers of events as the store keeps them, over both engines.
@Suite("W-44: a reader's position, state and dead letters are kept together")
struct EventReaderStoreTests {
    private static let now = StorageNow(wall: 1_000_000, steady: 1_000)
    private static let position = StreamPosition(epoch: 7, offset: 10)

    /// Runs the body over both engines; the results must be the same.
    private func both<Result: Equatable>(
        _ body: (inout Fixture) throws -> Result
    ) async throws -> Result {
        try await withDirectory { directory in
            let options = SQLiteOptions(path: directory + "/storage.db", synchronous: .off)
            let file = try SQLiteWriter(options)
            let reader = try SQLiteReader(options)
            let memory = MemoryStore(source: file.source)
            var overFile = try StorageWriter(file, rules: StorageRules(), now: Self.now)
            var overMemory = try StorageWriter(memory, rules: StorageRules(), now: Self.now)
            var onFile = Fixture(reader: reader) { overFile.run($0, now: Self.now) }
            let result = try body(&onFile)
            var inMemory = Fixture(reader: memory) { overMemory.run($0, now: Self.now) }
            #expect(try body(&inMemory) == result)
            reader.close()
            overFile.close()
            return result
        }
    }

    private struct Fixture {
        let reader: any ReadableStore
        let run: ([StorageWrite]) -> WriteOutcome

        func claim(_ node: String, _ name: String = "hook") -> UInt64 {
            let request = ClaimReader(appID: "app", name: name, node: node, lease: .seconds(10))
            return run([StorageWrite(request, link: 1, request: 1)]).answer(ReaderClaimed.self)?.term ?? 0
        }

        /// - Parameter first: the offset of the event of the first letter; the others follow.
        func keep(
            _ term: UInt64, letters: Int = 0, from first: Int = 100, removing removed: [UInt64] = []
        ) -> Bool {
            let letters = (first..<first + letters).map { offset in
                DeadLetter(
                    position: StreamPosition(epoch: 7, offset: UInt64(offset)), reason: "500", body: [1, 2])
            }
            let request = KeepReader(
                appID: "app", name: "hook", term: term, lease: .seconds(10), position: position, state: [3],
                letters: letters,
                removed: removed.map { DeadLetterNumber(number: $0) })
            let kept = run([StorageWrite(request, link: 1, request: 1)]).answer(ReaderKept.self)
            return kept?.isKept ?? false
        }

        func move(forgets: Bool = false) -> Bool {
            let request = MoveReader(appID: "app", name: "hook", position: position, forgets: forgets)
            let moved = run([StorageWrite(request, link: 1, request: 1)]).answer(ReaderMoved.self)
            return moved?.isFound ?? false
        }

        func readers() throws -> [EventReader] {
            try reader.readers(ReadersRequest(appID: "app"), limit: 10, now: now.wall)
        }

        func letters(after number: UInt64 = 0) throws -> [UInt64] {
            let request = DeadLettersRequest(appID: "app", name: "hook", after: number)
            return try reader.deadLetters(request, limit: 2_000).map(\.number)
        }
    }

    @Test("a keep under an older term changes nothing, its dead letters included")
    func terms() async throws {
        let seen = try await both { fixture -> [String] in
            let first = fixture.claim("a")
            var seen = ["\(fixture.keep(first, letters: 1))", "\(fixture.claim("b"))"]
            let second = fixture.claim("a")
            seen += ["\(second > first)", "\(fixture.keep(first, letters: 1))", "\(try fixture.letters())"]
            let reader = try fixture.readers().first
            return seen + [
                "\(reader?.owner ?? "") \(reader?.state ?? []) \(reader?.position == Self.position)"
            ]
        }
        #expect(seen == ["true", "0", "true", "false", "[1]", "a [3] true"])
    }

    @Test("dead letters are listed, removed by number, and the newest 1,000 stay")
    func letters() async throws {
        let seen = try await both { fixture -> [String] in
            let term = fixture.claim("a")
            _ = fixture.keep(term, letters: 3)
            _ = fixture.keep(term, letters: 1, from: 200, removing: [2])
            var seen = ["\(try fixture.letters())", "\(try fixture.letters(after: 3))"]
            for hundred in 3..<13 { _ = fixture.keep(term, letters: 100, from: 100 * hundred) }
            let left = try fixture.letters()
            seen.append("\(left.first ?? 0) \(left.last ?? 0) \(left.count)")
            let reader = try fixture.readers().first
            return seen + ["\(reader?.letters ?? 0) \(reader?.dropped ?? 0)"]
        }
        #expect(seen == ["[1, 3, 4]", "[4]", "5 1004 1000", "1000 3"])
    }

    @Test("an event has one dead letter, the latest, also when an owner keeps again what wasn't answered")
    func repeated() async throws {
        let seen = try await both { fixture -> [String] in
            let term = fixture.claim("a")
            _ = fixture.keep(term, letters: 3)
            _ = fixture.keep(term, letters: 2)
            return ["\(try fixture.letters())", "\(try fixture.readers().first?.letters ?? 0)"]
        }
        #expect(seen == ["[3, 4, 5]", "3"])
    }

    @Test("a reader that is forgotten takes its dead letters with it, and its old owner stays outdated")
    func forget() async throws {
        let seen = try await both { fixture -> [String] in
            let term = fixture.claim("a")
            _ = fixture.keep(term, letters: 2)
            var seen = ["\(fixture.move(forgets: true))", "\(try fixture.readers().count)"]
            let next = fixture.claim("b")
            seen += ["\(next > term)", "\(try fixture.letters())", "\(fixture.keep(term))"]
            return seen + ["\(fixture.move())", "\(fixture.keep(next))"]
        }
        #expect(seen == ["true", "0", "true", "[]", "false", "true", "false"])
    }
    @Test("a reader that is forgotten and claimed again in one group begins without dead letters")
    func forgottenAndClaimed() async throws {
        let seen = try await both { fixture -> [String] in
            _ = fixture.keep(fixture.claim("a"), letters: 2)
            let forget = MoveReader(appID: "app", name: "hook", position: Self.position, forgets: true)
            let claim = ClaimReader(appID: "app", name: "hook", node: "b", lease: .seconds(10))
            let outcome = fixture.run([
                StorageWrite(forget, link: 1, request: 1),
                StorageWrite(claim, link: 1, request: 2),
            ])
            guard let claimed = outcome.answer(ReaderClaimed.self) else { return [] }
            return [
                "\(try fixture.letters())", "\(fixture.keep(claimed.term, letters: 1))",
                "\(try fixture.letters())",
            ]
        }
        #expect(seen == ["[]", "true", "[1]"])
    }
}
