import RTMModel

/// The connection of the present attempt or session. What belongs to a connection alone ends with it.
struct LinkConnection {
    let attempt: UInt64
    let socket: ServerConnection
    /// The session came here from another path, and the app knows nothing of that (N-5).
    var isSecondPath = false
    /// The id of the Login that was sent on it, or 0 before that.
    var loginRequest: UInt64 = 0
    /// The subscriptions that the Login carried; nil before that, and when the server has answered.
    var offer: LoginOffer?
    /// Runs from the moment the server has accepted the login.
    var heartbeat: HeartbeatSchedule?
    var restoration = RestorationProgress()
    var retries = Retries()

    /// When a heartbeat or a retry is due next.
    var deadline: ContinuousClock.Instant? {
        [heartbeat?.deadline, retries.deadline].lazy.compactMap { $0 }.min()
    }
}

/// What a new connection has to bring back of the session before the link counts as connected, and what it
/// could not bring back.
struct RestorationProgress: Equatable {
    /// Restorations that the server has still to answer.
    private var unanswered = 0
    /// Channels that the server refused.
    private(set) var unrestoredChannels: [String] = []
    /// Those of them that the token doesn't allow.
    private(set) var forbiddenChannels: [String] = []
    /// Channels that continue behind a gap.
    private(set) var interruptedChannels: [String] = []
    /// Users whose metadata the server refused to deliver again.
    private(set) var unrestoredUsers: [String] = []
    /// Messages to this user were lost.
    var hasInboxGap = false
    /// The app knows what is missing, because the link counts as connected.
    var isReported = false

    init() {}

    /// - Parameter earlier: what an attempt of the same loss restored before it failed. Its gaps were
    ///   reported, so the session is not resumed, whatever the next attempt brings (S-17).
    init(after earlier: RestorationProgress?) {
        guard let earlier, !earlier.isReported else { return }
        interruptedChannels = earlier.interruptedChannels
        hasInboxGap = earlier.hasInboxGap
    }

    var isDone: Bool { unanswered == 0 }
    /// Something besides the channels is missing.
    var isIncomplete: Bool { hasInboxGap || !unrestoredUsers.isEmpty }

    mutating func begin(_ count: Int) { unanswered += count }

    mutating func end() { unanswered -= 1 }

    mutating func failed(channel: String, _ code: ErrorCode) {
        unrestoredChannels.append(channel)
        if code == .channelSubscribePermissionDenied { forbiddenChannels.append(channel) }
    }

    mutating func interrupted(channel: String) {
        if !interruptedChannels.contains(channel) { interruptedChannels.append(channel) }
    }

    mutating func failed(user: String) { unrestoredUsers.append(user) }
}
