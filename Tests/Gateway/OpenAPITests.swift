import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import RTMCredentials
import RTMModel
import RTMProtocol
import RTMPublishHook
import RTMServiceKit
import RTMServiceLink
import RTMWebhookCall
import RTMWire
import Testing
import Yams

@testable import RTMGatewayServer

/// docs/http/openapi.yaml says what the gateway does.
@Suite("The OpenAPI document")
struct OpenAPITests {
    private let document: [String: Any]

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/http/openapi.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        document = try #require(try Yams.load(yaml: text) as? [String: Any])
    }

    /// The routes of a gateway that is connected to nothing.
    private func built() -> Set<String> {
        let loop = EmbeddedEventLoop()
        let readiness = ReadinessRegistry(logger: Logger(label: "test"))
        let probe = readiness.probe("none", isRequired: false)
        let nobody = ServiceLinkAddress.inProcess(InProcessEndpoint(name: "nobody"))
        let bans = GatewayBans()
        let calls = GatewayCalls(
            to: .init(messaging: [nobody], presence: [nobody], storage: [nobody]), ServiceLinkConfiguration(),
            node: "test", probes: .init(messaging: probe, presence: probe, storage: probe), banned: bans,
            endOfTurn: .shared(on: loop), logger: Logger(label: "test"))
        let backend = Backend(calls: NIOLoopBound(calls, eventLoop: loop), eventLoop: loop)
        let api = GatewayAPI(
            backend: backend,
            authentication: Authentication(KeyRing([]), bans, []),
            rates: RequestRates(.init(key: 0, user: 0, app: 0)), metrics: GatewayMetrics(MetricsRegistry()),
            webhooks: Webhooks(
                [], node: "test", .init(),
                .init(
                    rules: AddressRules(allowed: []), rulesKey: "", timeout: .seconds(1), eventLoopGroup: loop
                ),
                backend, WebhookMetrics(MetricsRegistry()), Logger(label: "test")),
            nodes: NodeReports([]) { nil },
            hooks: GatewayHooks(
                [:], on: loop, PublishHookMetrics(MetricsRegistry(), .gateway),
                Logger(label: "test")),
            memory: GatewayMemory(bodyBytesMax: 1, bodiesBytesMax: 1, pagesBytesMax: 1, processors: 1),
            bodyBytesMax: 1,
            logger: Logger(label: "test"))
        return Set(
            api.router(.init(), origins: AllowedOrigins([])) { true }.routes.compactMap { route in
                // Files are no part of the API.
                if ["/console", "**"].contains(where: "\(route.path)".hasSuffix) { return nil }
                let path = "\(route.path)".split(separator: "/").map { piece in
                    piece.hasPrefix(":") ? "{\(piece.dropFirst())}" : String(piece)
                }
                return "\(route.method.rawValue) /\(path.joined(separator: "/"))"
            })
    }

    @Test("its version is the product's")
    func version() throws {
        let about = try #require(document["info"] as? [String: Any])
        #expect(about["version"] as? String == Release.version)
    }

    @Test("it has every route of the router, and no other")
    func routes() throws {
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        let documented = Set(
            paths.flatMap { path, methods in
                methods.keys.filter { $0 != "parameters" }.map { "\($0.uppercased()) \(path)" }
            })
        let built = built()
        #expect(built.count > 20)
        #expect(documented.subtracting(built) == [], "documented, and not there")
        #expect(built.subtracting(documented) == [], "there, and not documented")
    }

    private func properties(of schema: String) -> Set<String> {
        let schemas = (document["components"] as? [String: Any])?["schemas"] as? [String: [String: Any]]
        return Set((schemas?[schema]?["properties"] as? [String: Any] ?? [:]).keys)
    }

    private func keys<Body: APIBody>(_ body: Body.Type) -> Set<String> {
        Set(Body.CodingKeys.allCases.map(\.stringValue))
    }

    @Test("the bodies of requests have the keys that are decoded")
    func requests() {
        #expect(properties(of: "Message") == keys(MessageRoutes.Message.self))
        #expect(properties(of: "Broadcast") == keys(MessageRoutes.Broadcast.self))
        #expect(properties(of: "Batch") == keys(MessageRoutes.Batch.self))
        #expect(properties(of: "MetadataWrite") == keys(StorageRoutes.Write.self))
        #expect(properties(of: "MetadataWriteItem") == keys(StorageRoutes.Item.self))
        #expect(properties(of: "LockSettings") == keys(StorageRoutes.LockSettings.self))
        #expect(properties(of: "Revocation") == keys(StorageRoutes.Revocation.self))
        #expect(properties(of: "Reason") == keys(ModerationRoutes.Reason.self))
        #expect(properties(of: "TokenRevocation") == keys(ModerationRoutes.TokenRevocation.self))
        #expect(properties(of: "Term") == keys(ModerationRoutes.Term.self))
        #expect(properties(of: "Question") == keys(ExplainRoutes.Question.self))
        #expect(properties(of: "MessageQuestion") == keys(ExplainRoutes.Message.self))
        #expect(properties(of: "PublishQuestion") == keys(ExplainRoutes.Publish.self))
        #expect(properties(of: "Redelivery") == keys(WebhookRoutes.Redelivery.self))
    }

    /// The stored properties, which are what is encoded.
    private func labels(_ value: Any) -> Set<String> {
        Set(Mirror(reflecting: value).children.compactMap(\.label))
    }

    @Test("the bodies of answers have the keys that are encoded")
    func answers() {
        let error = APIError(.badRequest, "", "").body
        let published = BackendPublishResponse(
            outcome: .published, position: StreamPosition(epoch: 0, offset: 0))
        #expect(
            properties(of: "Outcome")
                == labels(MessageRoutes.Published(published)).union(["channel", "user", "error"]))
        let reports = EdgeReports(EdgeAnswers())
        let listed = ListedChannel(name: "", newest: StreamPosition(epoch: 0, offset: 0))
        let channel = ListRoutes.Channel(listed, subscribers: 0)
        let edges = ListRoutes.Edges(reports)
        let rate = ListRoutes.Usage.Rate()
        let hop = Hop(hop: .log, verdict: .accepted, reason: "")
        let explanation = DeliveryExplanation(verdict: .unknown, hop: .log, reason: "", tree: hop)
        let record = APIKeyRecord(id: "", hash: "", app: "", scopes: [])
        for (schema, value) in [
            ("Health", HealthRoutes.Health() as Any),
            ("Published", MessageRoutes.Published(published) as Any),
            ("Outcomes", MessageRoutes.Outcomes(results: [])),
            ("Error", error), ("HistoryPage", HistoryRoutes.Page(messages: [])),
            ("StoredMessage", HistoryRoutes.Message(.init())),
            ("Users", PresenceRoutes.Users(total: 0)), ("UserState", PresenceRoutes.User(user: "")),
            ("UserChannels", PresenceRoutes.Channels(channels: [])),
            ("Metadata", StorageRoutes.Metadata(revision: 0, items: [])),
            ("MetadataItem", StorageRoutes.Metadata.Item(key: "", value: "", revision: 0)),
            ("Written", StorageRoutes.Written(revision: 0)),
            ("Locks", StorageRoutes.Locks(revision: 0, locks: [])),
            ("Lock", StorageRoutes.Locks.Lock(name: "", ttl: 0, fencingToken: 0)),
            ("Done", StorageRoutes.Done()), ("Bans", ModerationRoutes.Bans(bans: [])),
            ("Ban", ModerationRoutes.Bans.Ban(user: "", since: 0, until: 0, reason: "", by: "")),
            (
                "Moderation",
                ModerationRoutes.Outcome(sessions: 0, asked: 0, answered: 0, isDurable: false)
            ),
            ("Conflict", APIError.Conflict()), ("Purged", HistoryRoutes.Purged(removed: 0)),
            ("Edges", edges), ("Channel", channel),
            ("Channels", ListRoutes.Channels(channels: [], total: 0, edges: edges)),
            (
                "ChannelDetail",
                ListRoutes.ChannelDetail(
                    channel: "", epoch: 0, offset: 0, subscribers: 0, members: 0, edges: edges)
            ),
            ("OnlineUsers", ListRoutes.Users(users: [], total: 0)),
            ("OnlineUser", ListRoutes.Users.User(user: "")),
            ("Connection", ListRoutes.Connection(EdgeSession())),
            ("Connections", ListRoutes.Connections(connections: [], total: 0, edges: edges)),
            ("UserDetail", ListRoutes.UserDetail(user: "", online: false, connections: [], edges: edges)),
            (
                "Usage",
                ListRoutes.Usage(channels: 0, users: 0, connections: 0, key: rate, app: rate, edges: edges)
            ),
            ("UsageRate", rate), ("Hop", hop),
            ("Explanation", ExplainRoutes.Answer(explanation, .success(reports))),
            ("EventPage", EventRoutes.Page(events: [], next: "", more: false)),
            (
                "Event",
                EventBody(
                    AppEvent(position: .init(epoch: 0, offset: 0), type: .gap, keyType: .none), app: "")
            ),
            ("Webhooks", WebhookRoutes.Webhooks(webhooks: [])),
            ("Webhook", WebhookRoutes.Webhook(name: "", url: "")),
            (
                "WebhookAttempt",
                WebhookAttempt(
                    WebhookRequest(id: 0, events: []), WebhookAnswer(outcome: .status(200)), now: .now)
            ),
            ("WebhookTest", WebhookRoutes.Attempt(outcome: "", milliseconds: 0, answer: "")),
            ("WebhookMoved", WebhookRoutes.Moved(position: "")),
            ("DeadLetters", WebhookRoutes.Letters(letters: [])),
            (
                "DeadLetter",
                WebhookRoutes.Letters.Letter(number: 0, after: "", time: 0, reason: "", event: "")
            ),
            ("TokenOrder", TokenRoutes.Order(user: "")), ("Token", TokenRoutes.Token(token: "")),
            ("ConsoleLogin", ConsoleRoutes.Login(key: "")),
            (
                "ConsoleSession",
                ConsoleRoutes.Session(
                    csrf: "", key: KeyRoutes.Key(record, lastUse: nil), apps: [], edges: [], version: "")
            ),
            ("Key", KeyRoutes.Key(record, lastUse: nil)), ("Keys", KeyRoutes.Keys(keys: [])),
        ] {
            #expect(properties(of: schema) == labels(value), "\(schema)")
        }
    }
}
