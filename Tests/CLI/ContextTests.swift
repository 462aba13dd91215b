import Foundation
import RTMClient
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import rtm

@Suite("Contexts: servers and users under names")
struct ContextTests {
    private var book: ContextBook {
        var book = ContextBook()
        book.add(
            ServerContext(servers: ["a:1"], appID: "app-a", user: "anna", tokenFile: "a.token", tls: false),
            named: "first")
        book.add(ServerContext(servers: ["b:2"]), named: "second")
        return book
    }

    private func settings(
        _ options: ConnectionValues = ConnectionValues(), context: String? = nil,
        _ environment: [String: String] = [:]
    ) throws(RTMError) -> ConnectionSettings {
        try ConnectionSettings(
            options, context: context, environment: environment, contexts: { book }, guest: "guest-1",
            readFile: { "content of \($0)" })
    }

    @Test("the first context is in use at once, and stands in for what isn't given")
    func current() throws {
        let settings = try settings()
        #expect(settings.servers.map(\.description) == ["a:1"])
        #expect(settings.appID == "app-a")
        #expect(settings.userID == "anna")
        #expect(settings.token == "content of a.token")
        #expect(settings.encryption == .disabled)
    }

    @Test("options win over --context, that over the environment, and that over the context in use")
    func order() throws {
        let environment = ["RTM_SERVER": "e:3", "RTM_USER": "eve"]
        #expect(try settings([:]).servers.map(\.description) == ["a:1"])
        #expect(try settings(environment).servers.map(\.description) == ["e:3"])
        #expect(try settings(environment).appID == "app-a")
        #expect(try settings(context: "second", environment).servers.map(\.description) == ["b:2"])
        #expect(try settings(context: "second", environment).userID == "eve")
        #expect(try settings(["RTM_CONTEXT": "second"]).servers.map(\.description) == ["b:2"])
        let option = ConnectionValues(servers: [try ServerAddress("o:4")])
        #expect(try settings(option, context: "second", environment).servers.map(\.description) == ["o:4"])
    }

    private func settings(_ environment: [String: String]) throws(RTMError) -> ConnectionSettings {
        try settings(ConnectionValues(), environment)
    }

    private func settings(
        context: String, _ environment: [String: String]
    ) throws(RTMError) -> ConnectionSettings {
        try settings(ConnectionValues(), context: context, environment)
    }

    @Test("a token for another app or user can't be kept; one that has expired can, and is named")
    func token() throws {
        let token = try SampleApp.token(for: "anna", endsAt: 2_000)
        func finding(_ context: ServerContext, _ text: String? = nil, now: UInt64 = 1_990_000) throws
            -> String?
        {
            try context.refusalForNow(of: text ?? token, nowMilliseconds: now)
        }
        var context = ServerContext(appID: SampleApp.id, user: "anna", tokenFile: "a.token")
        #expect(try finding(context) == nil)
        #expect(try finding(ServerContext(tokenFile: "a.token")) == nil)
        #expect(
            try finding(context, now: 2_010_000)?.hasPrefix("the token of 'a.token': the token expired")
                == true)
        context.user = "ben"
        #expect(throws: RTMError.self) { try finding(context) }
        context = ServerContext(appID: "other", tokenFile: "a.token")
        #expect(throws: RTMError.self) { try finding(context) }
        #expect(throws: RTMError.self) { try finding(context, "no token") }
    }

    @Test("an unknown context is refused with the nearest name")
    func unknown() {
        let error = #expect(throws: RTMError.self) { try settings(context: "secnd", [:]) }
        #expect(
            error?.reason == "there is no context 'secnd', which --context names; did you mean second?")
        let named = #expect(throws: RTMError.self) { try settings(["RTM_CONTEXT": "third"]) }
        #expect(named?.reason == "there is no context 'third', which RTM_CONTEXT names")
        let none = #expect(throws: RTMError.self) { try ContextBook().context("prod") }
        #expect(
            none?.reason == "there is no context 'prod'; there are none, and 'rtm context add prod' makes it")
        var book = book
        #expect(throws: RTMError.self) { try book.use("third") }
        #expect(throws: RTMError.self) { try book.remove("third") }
    }

    @Test("what can't be used of a context names it")
    func unusable() throws {
        func reason(_ context: ServerContext) -> String? {
            let error = #expect(throws: RTMError.self) {
                try context.values("prod") { _ in throw CocoaError(.fileReadNoSuchFile) }
            }
            return error?.reason
        }
        #expect(reason(ServerContext(servers: ["a:b"]))?.hasPrefix("the context 'prod': ") == true)
        #expect(
            reason(ServerContext(tokenFile: "/t"))?.hasPrefix("the token file of the context 'prod': '/t' ")
                == true)
        #expect(
            reason(ServerContext(ca: "/c"))?.hasPrefix("--ca of the context 'prod': '/c' can't be read: ")
                == true)
    }

    @Test("a server that can't be reached is said to be that of the context, if it names the server")
    func unreachable() throws {
        #expect(try settings([:]).contextOfServers == "first")
        #expect(try settings(["RTM_CONTEXT": "second"]).contextOfServers == "second")
        #expect(try settings(context: "second", [:]).contextOfServers == "second")
        #expect(try settings(["RTM_SERVER": "e:3"]).contextOfServers == nil)
        var watch = LoginWatch(
            servers: [.local], timeout: .seconds(10), isPatient: false, context: "prod")
        let error = #expect(throws: RTMError.self) { try watch.attemptFailed("refused", .refused) }
        #expect(error?.reason.hasPrefix("refused; the context 'prod' names it; is a server running") == true)
    }

    @Test("a removed context isn't in use any more")
    func removal() throws {
        var book = book
        try book.use("second")
        #expect(book.current == "second")
        try book.remove("second")
        #expect(book.current == nil)
        #expect(book.names == ["first"])
    }

    @Test("the file holds what was written, and only its owner may read it")
    func file() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = ContextFile(environment: ["XDG_CONFIG_HOME": folder])
        #expect(try file.read() == ContextBook())
        try file.write(book)
        #expect(try file.read() == book)
        let path = try #require(file.path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try Data("{".utf8).write(to: URL(filePath: path))
        let refusal = #expect(throws: RTMError.self) { try file.read() }
        #expect(
            refusal?.reason == "the contexts in '\(path)' can't be read: the file doesn't hold what "
                + "'rtm context' writes; mend or remove it")
        #expect(ContextFile(environment: [:]).path == nil)
    }
}
