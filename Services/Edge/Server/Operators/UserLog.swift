import Logging
import NIOCore
import RTMModel
import RTMWire

/// What the users ask about whom an operator wants to know more, line by line, for as long as he wants it. No
/// line holds what users write to each other.
///
/// While there is no such user, a request costs one look at `isActive`. So what else somebody wants to know
/// of requests for a while is counted here, too.
final class UserLog {
    private let logger: Logger
    private let eventLoop: any EventLoop
    private var raised = RaisedLevels()
    private var budget = LineBudget(perSecond: 200, burst: 1_000)
    private(set) var isActive = false
    /// What sessions publish, while that is measured (`TopQuestions`).
    var publishes: LoudCounts<SessionKey>? { didSet { update() } }

    init(_ logger: Logger, on eventLoop: any EventLoop) {
        var logger = logger
        // Who is listed here is logged whatever the level of the process is.
        logger.logLevel = .trace
        self.logger = logger
        self.eventLoop = eventLoop
    }

    var entries: [RaisedLevels.User: RaisedLevels.Entry] { raised.entries }

    func raise(_ user: RaisedLevels.User, _ entry: RaisedLevels.Entry) -> Bool {
        guard raised.raise(user, entry) else { return false }
        update()
        eventLoop.assumeIsolated().scheduleTask(deadline: entry.until) { [weak self] in self?.expire() }
        return true
    }

    func end(_ user: RaisedLevels.User) -> Bool {
        defer { update() }
        return raised.end(user)
    }

    private func expire() {
        raised.expire(now: eventLoop.now)
        update()
    }

    private func update() { isActive = !raised.isEmpty || publishes != nil }

    /// Whether every refusal of the user gets its line.
    func hasRaised(_ session: Session) -> Bool {
        isActive && raised.level(of: session.appID, session.userID) != nil
    }

    /// A client asks for something. Publishes and heartbeats are many, so they have a level of their own.
    ///
    /// - Parameter session: nil before a login.
    func received(_ action: ConnectionStateMachine.Action, _ requestID: UInt64, of session: Session?) {
        if case .publish(let publish) = action, let session, session.appID == publishes?.appID {
            publishes?.add(
                session.key, weight: 1, amount: UInt64(publish.message.payload.bytes.count))
        }
        guard !raised.isEmpty else { return }
        var user = session.map { ($0.appID, $0.userID) }
        if case .login(let login) = action { user = (login.appID.string, login.userID.string) }
        guard let (app, user) = user, let raised = raised.level(of: app, user) else { return }
        let level: Logger.Level = action.isFrequent ? .trace : .debug
        guard level >= raised, let omitted = budget.take(now: eventLoop.now) else { return }
        var facts = action.facts
        facts["app"] = "\(app)"
        facts["user"] = "\(user)"
        facts["request"] = "\(requestID)"
        if let session { facts["session"] = "\(session.id.rawValue)" }
        if omitted > 0 { facts["omitted"] = .stringConvertible(omitted) }
        logger.log(level: level, "request", metadata: facts)
    }
}

extension ConnectionStateMachine.Action {
    fileprivate var isFrequent: Bool {
        switch self {
        case .publish, .answerHeartbeat: true
        default: false
        }
    }

    /// What is asked, and about which channel.
    fileprivate var facts: Logger.Metadata {
        var facts: Logger.Metadata = ["kind": "\(name)"]
        func add(_ type: ChannelType?, _ channel: WireText) {
            facts["channel"] = "\(channel.string)"
            facts["type"] = "\(type ?? .none)"
        }
        switch self {
        case .subscribe(let subscribe): add(subscribe.channelType, subscribe.channel)
        case .unsubscribe(let unsubscribe): add(unsubscribe.channelType, unsubscribe.channel)
        case .publish(let publish):
            add(publish.channelType, publish.channel)
            facts["bytes"] = .stringConvertible(publish.message.payload.bytes.count)
        case .refuse(let error):
            facts["code"] = .stringConvertible(error.code.rawValue)
            facts["cause"] = "\(error.reason)"
        case .disconnect(let disconnect): facts["cause"] = "\(disconnect.reason)"
        default: break
        }
        return facts
    }
}

/// The users about whom one loop logs more than usual, and until when. Pure: the time is a parameter.
struct RaisedLevels {
    /// Limit: users at a time.
    static let countMax = 100
    static let longest: Duration = .seconds(86_400)

    struct User: Sendable, Hashable {
        let appID: String
        let userID: String
    }

    /// The level of one user.
    struct Entry: Sendable, Equatable {
        let level: Logger.Level
        let until: NIODeadline
        /// The same in UTC, milliseconds since 1970, as the operator sees it.
        let untilMilliseconds: UInt64
    }

    private(set) var entries: [User: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }
    /// When the next of them ends.
    var nextEnd: NIODeadline? { entries.values.map(\.until).min() }

    func level(of appID: String, _ userID: String) -> Logger.Level? {
        entries[User(appID: appID, userID: userID)]?.level
    }

    /// Returns false, and changes nothing, if there are as many as there may be.
    mutating func raise(_ user: User, _ entry: Entry) -> Bool {
        guard entries[user] != nil || entries.count < Self.countMax else { return false }
        entries[user] = entry
        return true
    }

    /// Returns whether it was there.
    mutating func end(_ user: User) -> Bool { entries.removeValue(forKey: user) != nil }

    mutating func expire(now: NIODeadline) { entries = entries.filter { $0.value.until > now } }
}
