import RTMModel
import RTMServiceLink
import RTMWire

/// What edges report of the members under their leases (`Syncs`), on its way into the store.
final class MembershipReports {
    private let store: any PresenceStore
    private let states: StateLimits
    private var syncs = Syncs()

    init(_ store: any PresenceStore, _ states: StateLimits) {
        self.store = store
        self.states = states
    }

    func closed(_ link: AcceptedServiceLink) { syncs.closed(link.id) }

    /// A session joins a channel, perhaps while its edge reports others.
    func joining(_ member: MemberKey, lease: UInt64, over link: AcceptedServiceLink) {
        syncs.joined(member, lease: lease, over: link.id)
    }

    /// The session has not become the member: a newer login of its user is in the channel.
    func isOlder(_ member: MemberKey, lease: UInt64, over link: AcceptedServiceLink) {
        syncs.isOlder(member, lease: lease, over: link.id)
    }

    /// Enters the members. With the last part of a report everybody else under the lease is lost. Gives who
    /// isn't listed, because newer logins of the users are in the channels.
    func report(
        _ request: SyncRequest, over link: AcceptedServiceLink, _ edgeLink: EdgeLink,
        _ done: @escaping (Result<[OlderMembership], RTMError>) -> Void
    ) {
        syncs.add(request, over: link.id)
        var older: [OlderMembership] = []
        let entered: (Result<Void, RTMError>) -> Void = { outcome in done(outcome.map { older }) }
        let pending = CompletionGroup(count: request.memberships.count + 1) { [self] outcome in
            guard case .success = outcome, request.isLast, let kept = syncs.finish(request, over: link.id)
            else { return entered(outcome) }
            store.synced(edgeLink, except: kept, entered)
        }
        for (place, membership) in request.memberships.enumerated() {
            let states = self.states.acceptable(membership.states, in: membership.channel.type)
            let entry = Entry(membership, lease: request.lease, states)
            store.adopt(
                entry, membership.channel, isAnnounced: !membership.unannounced, over: edgeLink
            ) { [self] outcome in
                if case .success(false) = outcome {
                    let member = MemberKey(membership.caller, membership.channel)
                    isOlder(member, lease: request.lease, over: link)
                    older.append(OlderMembership(place: UInt32(place)))
                }
                pending.finished(outcome.map { _ in })
            }
        }
        pending.finished(.success(()))
    }
}
