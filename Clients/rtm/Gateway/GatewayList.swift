import ArgumentParser
import RTMClient

/// Lists of the gateway: they come in pages, and a command shows all of them.
struct ListOptions: ParsableArguments {
    @Option(help: .init("List at most this many.", valueName: "n"))
    var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more") }
    }
}

/// How one list is read and shown.
struct GatewayList: Sendable {
    /// Limit: rows of a page.
    private static let pageMax = 1_000

    let path: GatewayClient.Path
    /// The field of the answer that has the rows.
    let rows: String
    /// The field that says where the next page begins, and the parameter that takes it.
    var next = (field: "nextCursor", parameter: "cursor")
    /// Whether the size of a page can be chosen.
    var takesLimit = true
    var query: [String: String?] = [:]
    /// What a row is, for a program.
    let kind: String
    /// The columns of a row, for a person.
    let columns: @Sendable (JSON, Transcript) -> [String?]
    /// What a program gets of a row.
    var json: @Sendable (JSON) -> JSON = { $0 }
    /// What is said to a person if there is no row.
    let nothing: String

    /// Shows the rows of all pages. A program gets at the end how many there are, or how many were shown
    /// where the gateway doesn't count them.
    func show(_ client: GatewayClient, _ output: Output, limit: Int?) async throws {
        var (shown, query) = (0, query)
        var page: JSON
        repeat {
            let left = limit.map { $0 - shown } ?? Self.pageMax
            if takesLimit { query["limit"] = "\(min(left, Self.pageMax))" }
            page = try await client.get(path, query)
            for row in (page[rows]?.array ?? []).prefix(left) {
                try await output.row(columns(row, output.transcript), kind, json(row))
                shown += 1
            }
            // A number in one list, and a text in the others.
            query[next.parameter] = page[next.field].map { $0.text ?? $0.description }
        } while page[next.field] != nil && shown < limit ?? .max
        if shown == 0 { output.notice(nothing) }
        output.noticeMissing(page["edges"])
        try await output.result(nil, "result", ["result": "ok", "total": page["total"] ?? .number(shown)])
    }
}

extension Output {
    /// Writes what a gateway has answered: its fields as they came, and to a person columns with tabs in
    /// between. A column that isn't there is left out.
    func row(_ columns: [String?], _ kind: String, _ json: JSON) async throws(OutputClosed) {
        try await result(columns.compactMap { $0?.visible }.joined(separator: "\t"), kind, json)
    }

    /// Says so if not all edges have answered.
    func noticeMissing(_ edges: JSON?) {
        guard let asked = edges?["asked"]?.int, let answered = edges?["answered"]?.int, answered < asked
        else { return }
        notice("\(answered) of \(asked) event loops of the edges have answered; some of it may be missing")
    }
}

extension JSON {
    /// "1 subscriber", "2 subscribers"; nil if the field is no number.
    func count(_ field: String, _ one: String, _ many: String? = nil) -> String? {
        self[field]?.int.map { $0.counted(one, many) }
    }
}

extension Int {
    func counted(_ one: String, _ many: String? = nil) -> String {
        "\(self) \(self == 1 ? one : many ?? one + "s")"
    }
}
