/// Who is in a subscribed channel and what they show, for a view.
///
/// ```swift
/// struct Members: View {
///     @StateObject var roster: RosterModel      // Members(roster: RosterModel(client, of: "lobby"))
///     var body: some View {
///         List(roster.users, id: \.self) { Text($0 + " " + (roster.members[$0]?["mood"] ?? "")) }
///     }
/// }
/// ```
///
/// The channel has to be subscribed with ``SubscriptionFeatures/presence``, before or afterwards. It doesn't
/// hold the client.
@MainActor public final class RosterModel: ViewModel {
    /// The channel that it follows.
    public let channel: String
    /// States by user id. The own user is among them unless it is quiet. Empty while nobody is known.
    public private(set) var members: [String: [String: String]] = [:]
    /// Their ids in the order of their bytes.
    public private(set) var users: [String] = []
    /// Whether it is known who is there. It isn't before the subscription's snapshot, after its end, and
    /// while presence is not available.
    public private(set) var isKnown = false
    private var reader: Task<Void, Never>?

    /// Follows the channel until the client is closed or released.
    public init(_ client: RTMClient, of channel: String) {
        self.channel = channel
        super.init()
        let updates = client.roster(of: channel)
        // Unstructured: it ends with the client, and with this object.
        reader = Task { [weak self] in
            for await update in updates { self?.take(update) }
            self?.end()
        }
    }

    deinit { reader?.cancel() }

    private func take(_ update: RosterUpdate) {
        change {
            isKnown = update.changes.last != .cleared
            members = update.members
            users = update.members.keys.sorted()
        }
    }

    private func end() {
        guard isKnown else { return }
        change { (isKnown, members, users) = (false, [:], []) }
    }
}
