import RTMModel
import RTMProtocol
import Testing

@testable import RTMEdgeServer

@Suite("The order of a turn's writes") struct WriteOrderTests {
    @Test(
        "messages are written before acknowledgements alone, and what one socket gets in its own order")
    func messagesFirst() throws {
        let fixture = EdgeFixture()
        let names = ["anna", "ben", "cleo"]
        let clients = names.map { fixture.client($0) }
        clients[2].subscribe(3, "lobby", .message)
        fixture.presence.answerJoin()
        fixture.pass()
        for client in clients { _ = client.take() }
        var written: [String] = []
        for (name, client) in zip(names, clients) { client.isWrittenTo = { written.append(name) } }
        for client in clients { try client.publishAtOnce(9, to: "lobby") }
        fixture.pass()
        #expect(written == ["cleo", "anna", "ben"])
        let acknowledged = clients.map { client in
            client.bodies().map { if case .published = $0 { "published" } else { "message" } }
        }
        #expect(acknowledged == [["published"], ["published"], ["published", "message", "message"]])
        fixture.end()
    }
}
