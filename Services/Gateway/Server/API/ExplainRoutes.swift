import Hummingbird
import RTMCredentials
import RTMModel
import RTMWire

/// Why did that message not arrive (W-60)? Messaging and every event loop of every edge are asked for what
/// they know; nothing is published.
struct ExplainRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) { group.post("explain", use: explain) }

    // MARK: Bodies

    /// One of three questions.
    struct Question: APIBody {
        var message: Strict<Message>?
        var user: String?
        var publish: Strict<Publish>?
        enum CodingKeys: String, CodingKey, CaseIterable { case message, user, publish }
    }

    /// What became of this message?
    struct Message: APIBody {
        /// Absent: the inbox of the user.
        var channel: String?
        var offset: UInt64
        /// The epoch of the log that the offset is of; absent: that of the present log.
        var epoch: UInt64?
        /// For whom; absent: as far as the edges.
        var user: String?
        enum CodingKeys: String, CodingKey, CaseIterable { case channel, offset, epoch, user }
    }

    /// What would become of a message?
    struct Publish: APIBody {
        /// Absent: the inbox of the receiver.
        var channel: String?
        /// The receiver.
        var to: String
        /// The publisher; absent: the backend itself.
        var `as`: String?
        enum CodingKeys: String, CodingKey, CaseIterable { case channel, to, `as` }
    }

    struct Answer: Encodable, Sendable {
        let verdict: DeliveryExplanation.Verdict
        let hop: Hop.Place
        let reason: String
        let tree: Hop
        /// How many event loops of edges were asked, and how many have answered in time; absent if none could
        /// be asked.
        let edges: ListRoutes.Edges?

        init(_ explanation: DeliveryExplanation, _ edges: Result<EdgeReports, RTMError>) {
            (verdict, hop) = (explanation.verdict, explanation.hop)
            (reason, tree) = (explanation.reason, explanation.tree)
            self.edges = (try? edges.get()).map { ListRoutes.Edges($0) }
        }
    }

    // MARK: Routes

    @Sendable func explain(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admitForUsers(context, .moderate)
        let question = try await api.body(Question.self, of: request, by: client)
        switch (question.message?.body, question.user, question.publish?.body) {
        case (let message?, nil, nil): return Response(json: try await explain(message, of: client.app))
        case (nil, let user?, nil): return Response(json: try await explain(user: user, of: client.app))
        case (nil, nil, let publish?): return Response(json: try await explain(publish, of: client.app))
        default:
            throw APIError(
                .badRequest, "invalidBody", "ask one question: a \"message\", a \"user\" or a \"publish\"")
        }
    }

    private func explain(_ message: Message, of app: String) async throws -> Answer {
        guard message.offset > 0 else {
            throw APIError(.badRequest, "invalidBody", "\"offset\" is 1 or more")
        }
        let channel = try Self.channel(message.channel, orInboxOf: message.user, of: app)
        let entry = StreamPosition(epoch: message.epoch ?? 0, offset: message.offset)
        let log = await log(ExplainRequest(channel: channel, entry: entry))
        let user: UserFacts?
        let edges: Result<EdgeReports, RTMError>
        if let name = message.user {
            let facts = try await facts(of: name, in: app, EdgeExplain(userID: name, channel: channel))
            (user, edges) = (facts, facts.edges)
        } else {
            (user, edges) = (nil, await self.edges(EdgeExplain(channel: channel), of: app))
        }
        let explanation = MessageExplanation(
            channel: channel, offset: message.offset, log: log, user: user, edges: edges)
        return Answer(explanation.explanation(), edges)
    }

    private func explain(user: String, of app: String) async throws -> Answer {
        let facts = try await facts(of: user, in: app, EdgeExplain(userID: user))
        return Answer(UserExplanation(user: facts).explanation(), facts.edges)
    }

    private func explain(_ publish: Publish, of app: String) async throws -> Answer {
        let channel = try Self.channel(publish.channel, orInboxOf: publish.to, of: app)
        if let publisher = publish.as { try NameRule.user.check(publisher.utf8) }
        let facts = try await facts(
            of: publish.to, in: app,
            EdgeExplain(userID: publish.to, channel: channel, publisher: publish.as ?? ""))
        let log = await log(ExplainRequest(channel: channel))
        let explanation = PublishExplanation(
            channel: channel, publisher: publish.as,
            publisherBannedUntil: publish.as.flatMap { api.authentication.bannedUntil($0, of: app) },
            hasHook: api.hooks.asks(about: channel), log: log, user: facts)
        return Answer(explanation.explanation(), facts.edges)
    }

    // MARK: Facts

    private static func channel(
        _ channel: String?, orInboxOf user: String?, of app: String
    ) throws -> ChannelKey {
        if let channel {
            try NameRule.channel.check(channel.utf8)
            return ChannelKey(appID: app, type: .message, name: channel)
        }
        guard let user else {
            throw APIError(.badRequest, "invalidBody", "name a \"channel\", or a user for the inbox")
        }
        return ChannelKey(appID: app, type: .user, name: user)
    }

    private func facts(of user: String, in app: String, _ question: EdgeExplain) async throws -> UserFacts {
        try NameRule.user.check(user.utf8)
        let edges = await edges(question, of: app)
        let inbox = await log(ExplainRequest(channel: ChannelKey(appID: app, type: .user, name: user)))
        return UserFacts(
            userID: user, now: WallClock.milliseconds(),
            bannedUntil: api.authentication.bannedUntil(user, of: app), inbox: inbox, edges: edges)
    }

    private func log(_ request: ExplainRequest) async -> Result<ExplainedLog, RTMError> {
        do throws(RTMError) { return .success(try await api.backend.explain(request)) } catch {
            return .failure(error)
        }
    }

    private func edges(_ question: EdgeExplain, of app: String) async -> Result<EdgeReports, RTMError> {
        do throws(RTMError) {
            return .success(try await api.backend.askEdges(EdgeQuery(appID: app, explain: question)))
        } catch {
            return .failure(error)
        }
    }
}
