import RTMModel
import RTMServiceLink
import RTMWire
import Testing

@testable import RTMStorageClient

@Suite("The bans of all shards, in pages") struct BanPagesTests {
    private func page(_ users: String..., hasMore: Bool = false) -> BansResponse {
        BansResponse(
            bans: users.map { Ban(appID: String($0.prefix(1)), userID: $0, endsSession: true) },
            hasMore: hasMore)
    }

    @Test("a page is sorted, and ends where the first shard may have more")
    func merged() throws {
        var pages = BanPages(of: 3)
        #expect(pages.take(.success(page("a1", "c1", "c2", hasMore: true))) == nil)
        #expect(pages.take(.success(page("b1", "b2", hasMore: true))) == nil)
        let whole = pages.take(.success(page("b0", "b3")))
        let first = try #require(whole).get()
        #expect(first.bans.map(\.userID) == ["a1", "b0", "b1", "b2"] && first.hasMore)
        pages = BanPages(of: 2)
        _ = pages.take(.success(page("é")))
        let sorted = pages.take(.success(page("z", "ab")))
        let last = try #require(sorted).get()
        #expect(last.bans.map(\.userID) == ["ab", "z", "é"] && !last.hasMore, "by their bytes")
    }

    @Test("a shard that can't answer makes the page fail, once all have")
    func failed() {
        var pages = BanPages(of: 2)
        #expect(pages.take(.failure(.timedOut)) == nil)
        #expect(pages.take(.success(page("a"))) == .failure(.timedOut))
    }
}
