import Testing

@testable import RTMGatewayServer

@Suite("Pages of lists") struct ListQueryTests {
    private func page(_ query: String) throws -> ListQuery {
        try ListQuery(Query(query, ["prefix", "limit", "cursor"]))
    }

    @Test("W-28: a page has up to 1,000 rows, and 100 if nothing is said")
    func limit() throws {
        #expect(try page("").limit == 100 && page("limit=1000").limit == 1_000)
        for wrong in ["limit=0", "limit=1001", "limit=-1", "limit=many"] {
            #expect(throws: APIError.self) { try page(wrong) }
        }
    }

    @Test(
        "a cursor is what the page before gave, for every name",
        arguments: ["a", "a b", "~~~???>>>", "user:1/2", String(repeating: "x", count: 64)])
    func cursor(name: String) throws {
        let cursor = PageCursor(name: name, session: .max, queuedBytes: 7)
        #expect(PageCursor(cursor.text) == cursor)
        #expect(cursor.text.utf8.allSatisfy { $0 != 0x2B && $0 != 0x2F && $0 != 0x3D })
        #expect(try page("cursor=\(cursor.text)").after == cursor)
    }

    @Test("a text that is no cursor is refused", arguments: ["x", "é", "MA", "MCA", "YSBi", "====", "%00"])
    func wrong(text: String) {
        #expect(PageCursor(text) == nil)
        #expect(throws: APIError.self) { try page("cursor=\(text)") }
    }
}
