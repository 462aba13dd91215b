import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("A loop's lease at presence")
struct PresenceLeaseTests {
    private var lease = PresenceLease(id: 7)

    @Test("after every link-up everything is told once; renewals alone tell nothing")
    mutating func syncsAfterLinkUp() {
        lease.linkUp()
        #expect(lease.renewed(isKnown: true, []) == true)
        let request = lease.nextSync { _ in [] }
        #expect(request == SyncRequest(lease: 7, memberships: [], isFirst: true, isLast: true))
        #expect(lease.synced([]) == .done(refreshes: false))
        for _ in 0..<3 { #expect(lease.renewed(isKnown: true, []) == false) }
        lease.linkDown()
        lease.linkUp()
        #expect(lease.renewed(isKnown: true, []) == true)
    }

    @Test("W-40: a join that presence may not know of is marked until a sync has reported it")
    mutating func missedJoins() {
        let session = SessionKey.test(1)
        let channels = Self.memberships(of: session, count: 2).map(\.channel)
        func sync(_ lease: inout PresenceLease, channels count: Int = 2) -> [Bool] {
            #expect(lease.renewed(isKnown: false, [session]) == true)
            return lease.nextSync { Self.memberships(of: $0, count: count) }.memberships.map(\.unannounced)
        }
        #expect(sync(&lease) == [false, false])
        _ = lease.synced([])
        lease.missedJoin(of: session, in: channels[1])
        #expect(sync(&lease) == [false, true])
        lease.linkDown()
        lease.linkUp()
        #expect(sync(&lease) == [false, true], "the report may have been lost with the link")
        _ = lease.synced([])
        #expect(sync(&lease) == [false, false])
        _ = lease.synced([])
        lease.missedJoin(of: session, in: channels[1])
        #expect(sync(&lease, channels: 1) == [false], "the user has left that channel")
        _ = lease.synced([])
        #expect(sync(&lease) == [false, false])
        _ = lease.synced([])
        lease.missedJoin(of: session, in: channels[0])
        lease.ended(session)
        #expect(sync(&lease) == [false, false])
    }

    @Test("P-46: states of a join that presence may not know of are in the sync, until it has reported them")
    mutating func heldStates() {
        let session = SessionKey.test(1)
        let channels = Self.memberships(of: session, count: 3).map(\.channel)
        func states(_ value: String) -> JoinStates { JoinStates(items: [StateItem(key: "k", value: value)]) }
        func sync(_ lease: inout PresenceLease) -> [String] {
            #expect(lease.renewed(isKnown: false, [session]) == true)
            return lease.nextSync { Self.memberships(of: $0, count: 3) }.memberships
                .map { $0.states.map(\.value).joined() }
        }
        for (place, channel) in channels.enumerated() {
            lease.hold(states("\(place)"), of: session, in: channel)
        }
        // The user has left one of them, and has other states in another.
        lease.hold(nil, of: session, in: channels[1])
        lease.hold(states("new"), of: session, in: channels[2])
        #expect(sync(&lease) == ["0", "", "new"])
        lease.linkDown()
        lease.linkUp()
        #expect(sync(&lease) == ["0", "", "new"], "the report may have been lost with the link")
        _ = lease.synced([])
        #expect(sync(&lease) == ["", "", ""])
        _ = lease.synced([])
        lease.hold(states("0"), of: session, in: channels[0])
        lease.ended(session)
        #expect(sync(&lease) == ["", "", ""])
    }

    @Test("P-46: a request of a sync has no more states than it may have, and each membership is in one")
    mutating func batchesOfStates() {
        let sessions = (1...20 as ClosedRange<UInt64>).map(SessionKey.test)
        let large = JoinStates(
            items: (0..<32).map { StateItem(key: "\($0)", value: String(repeating: "x", count: 1_024)) })
        for session in sessions {
            for member in Self.memberships(of: session, count: 5) {
                lease.hold(large, of: session, in: member.channel)
            }
        }
        #expect(lease.renewed(isKnown: true, sessions) == true)
        var requests: [SyncRequest] = []
        repeat {
            requests.append(lease.nextSync { session in Self.memberships(of: session, count: 5) })
        } while lease.synced([]) == .more
        let bytesMax = PresenceLease.syncStatesBytesMax + large.byteCount
        for request in requests {
            let bytes = request.memberships.reduce(0) { $0 + JoinStates(items: $1.states).byteCount }
            #expect(bytes <= bytesMax)
        }
        #expect(requests.count > 5 && requests.reduce(0) { $0 + $1.memberships.count } == 100)
    }

    @Test("a sync comes in batches of bounded size, the first and the last marked")
    mutating func batches() {
        let sessions = (1...100 as ClosedRange<UInt64>).map(SessionKey.test)
        #expect(lease.renewed(isKnown: true, sessions) == true)
        var requests: [SyncRequest] = []
        repeat {
            requests.append(lease.nextSync { session in Self.memberships(of: session, count: 50) })
        } while lease.synced([]) == .more
        #expect(requests.count > 5)
        #expect(requests.allSatisfy { $0.memberships.count < PresenceLease.syncBatch + 50 })
        #expect(requests.map(\.isFirst) == [true] + requests.dropFirst().map { _ in false })
        #expect(requests.map(\.isLast) == requests.dropLast().map { _ in false } + [true])
        #expect(Set(requests.flatMap(\.memberships)).count == 5_000)
    }

    @Test("S-12: who isn't listed is told of with each renewal, alone, until presence lists them")
    mutating func unlisted() {
        let sessions = (1...3 as ClosedRange<UInt64>).map(SessionKey.test)
        sync(isKnown: true)
        let both = Self.memberships(of: sessions[0], count: 2)
        lease.isUnlisted(sessions[0], in: both[1].channel)
        for isStillOlder in [true, false] {
            #expect(lease.renewed(isKnown: true, sessions) == true)
            let again = lease.nextSync { session in Self.memberships(of: session, count: 2) }
            #expect(again == SyncRequest(lease: 7, memberships: [both[1]], isFirst: false, isLast: false))
            #expect(lease.synced(unlisted: isStillOlder ? [0] : [], sessions) == .done(refreshes: false))
        }
        #expect(lease.renewed(isKnown: true, sessions) == false)
        // What a whole sync finds is announced again, too; an index that nothing was announced of is passed
        // over.
        lease.missed()
        #expect(lease.renewed(isKnown: true, sessions) == true)
        let whole = lease.nextSync { session in Self.memberships(of: session, count: 2) }
        #expect(whole.isFirst && whole.isLast && whole.memberships.count == 6)
        _ = lease.synced(unlisted: [4, 99], sessions)
        #expect(lease.renewed(isKnown: true, sessions) == true)
        let found = lease.nextSync { session in Self.memberships(of: session, count: 2) }
        #expect(found.memberships == [whole.memberships[4]])
        _ = lease.synced(unlisted: [0], sessions)
        // A session that has ended is in no channel any more.
        #expect(lease.renewed(isKnown: true, sessions) == true)
        #expect(lease.nextSync { _ in [] }.memberships.isEmpty)
        _ = lease.synced(sessions)
        #expect(lease.renewed(isKnown: true, sessions) == false)
    }

    @Test("when too many aren't listed presence is told everything anew")
    mutating func manyUnlisted() {
        sync(isKnown: true)
        for number in 0...PresenceLease.unlistedMax {
            lease.isUnlisted(.test(UInt64(number)), in: .init(appID: "app", type: .message, name: "a"))
        }
        #expect(lease.renewed(isKnown: true, [.test(1)]) == true)
        let request = lease.nextSync { _ in [] }
        #expect(request.isFirst && request.isLast)
    }

    @Test("P-1: a presence that was started anew gives every session a new snapshot, after the sync")
    mutating func refreshes() {
        let sessions = (1...3 as ClosedRange<UInt64>).map(SessionKey.test)
        sync(isKnown: true)
        #expect(lease.nextRefresh { _ in [0] } == nil)
        #expect(lease.renewed(isKnown: false, sessions) == true)
        _ = lease.nextSync { _ in [] }
        #expect(lease.synced(sessions) == .done(refreshes: true))
        var refreshed: [UInt64: [Int]] = [:]
        while let next = lease.nextRefresh({ $0.id.rawValue == 2 ? [] : [4, 9] }) {
            refreshed[next.session.id.rawValue, default: []].append(next.channelIndex)
        }
        #expect(refreshed.mapValues { $0.sorted() } == [1: [4, 9], 3: [4, 9]])
        #expect(lease.renewed(isKnown: true, sessions) == false)
    }

    @Test("so many new snapshots are under way at once; each that is done brings on the next")
    mutating func pacedRefreshes() {
        let sessions = (1...100 as ClosedRange<UInt64>).map(SessionKey.test)
        _ = lease.renewed(isKnown: false, sessions)
        _ = lease.nextSync { _ in [] }
        _ = lease.synced(sessions)
        var count = 0
        while lease.nextRefresh({ _ in [0] }) != nil { count += 1 }
        #expect(count == PresenceLease.refreshesMax)
        lease.refreshed()
        #expect(lease.nextRefresh { _ in [0] } != nil)
        #expect(lease.nextRefresh { _ in [0] } == nil)
    }

    @Test(
        "a join that came to nothing is told by a sync, and only its subscription gets the snapshot it lacks")
    mutating func missed() {
        let sessions = (1...3 as ClosedRange<UInt64>).map(SessionKey.test)
        sync(isKnown: true)
        lease.missed()
        #expect(lease.renewed(isKnown: true, sessions) == true)
        _ = lease.nextSync { _ in [] }
        #expect(lease.synced(sessions) == .done(refreshes: false))
        lease.missed()
        lease.lacksSnapshot(sessions[1], at: 4)
        #expect(lease.renewed(isKnown: true, sessions) == true)
        #expect(lease.beginRefreshes(sessions) == false, "after the sync")
        _ = lease.nextSync { _ in [] }
        #expect(lease.synced(sessions) == .done(refreshes: true))
        #expect(takeRefreshes() == [2: [4]])
        // It failed again.
        lease.lacksSnapshot(sessions[1], at: 4)
        #expect(lease.renewed(isKnown: true, sessions) == false, "presence knows of it")
        #expect(lease.beginRefreshes(sessions) == true)
        #expect(takeRefreshes() == [2: [4]])
        #expect(lease.renewed(isKnown: true, sessions) == false)
        #expect(lease.beginRefreshes(sessions) == false)
    }

    @Test("a session that has ended lacks nothing, and when too many lack a snapshot, all get one")
    mutating func lacking() {
        let sessions = (1...3 as ClosedRange<UInt64>).map(SessionKey.test)
        sync(isKnown: true)
        lease.lacksSnapshot(sessions[0], at: 1)
        lease.ended(sessions[0])
        #expect(lease.beginRefreshes(sessions) == false)
        for channelIndex in 0..<PresenceLease.lackingMax {
            lease.lacksSnapshot(sessions[1], at: channelIndex)
        }
        lease.lacksSnapshot(sessions[1], at: 0)
        lease.ended(sessions[1])
        for channelIndex in 0...PresenceLease.lackingMax {
            lease.lacksSnapshot(sessions[2], at: channelIndex)
        }
        #expect(lease.beginRefreshes(Array(sessions.dropLast())) == true)
        #expect(takeRefreshes() == [1: [0], 2: [0]])
    }

    @Test("what lacks a snapshot when the link is lost gets it after the next sync, and nobody else does")
    mutating func lackingCutOff() {
        let sessions = (1...100 as ClosedRange<UInt64>).map(SessionKey.test)
        sync(isKnown: true)
        for session in sessions.prefix(40) { lease.lacksSnapshot(session, at: 3) }
        #expect(lease.beginRefreshes(sessions) == true)
        var seen: Set<UInt64> = []
        while let next = lease.nextRefresh({ _ in [] }) { seen.insert(next.session.id.rawValue) }
        #expect(seen.count == PresenceLease.refreshesMax)
        lease.linkDown()
        for _ in seen { lease.refreshed() }
        lease.linkUp()
        #expect(lease.renewed(isKnown: true, sessions) == true)
        _ = lease.nextSync { _ in [] }
        #expect(lease.synced(sessions) == .done(refreshes: true))
        let rest = takeRefreshes()
        #expect(Set(rest.keys).union(seen) == Set(1...40) && rest.count == 40 - seen.count)
    }

    @Test("a sync that failed is begun anew with the next renewal, and one at a time")
    mutating func failedSync() {
        #expect(lease.renewed(isKnown: true, [.test(1)]) == true)
        #expect(lease.renewed(isKnown: false, []) == false)
        lease.syncFailed()
        #expect(lease.renewed(isKnown: true, [.test(1)]) == true)
        let request = lease.nextSync { Self.memberships(of: $0, count: 1) }
        #expect(request.isFirst && request.isLast && request.memberships.count == 1)
    }

    @Test("P-1: snapshots that the loss of the link cut off are given after the next sync")
    mutating func refreshesCutOff() {
        let sessions = (1...100 as ClosedRange<UInt64>).map(SessionKey.test)
        _ = lease.renewed(isKnown: false, sessions)
        _ = lease.nextSync { _ in [] }
        _ = lease.synced(sessions)
        // All that are under way come to their end, with a snapshot; the others have yet to begin.
        for _ in 0..<PresenceLease.refreshesMax { #expect(lease.nextRefresh { _ in [0] } != nil) }
        lease.linkDown()
        for _ in 0..<PresenceLease.refreshesMax { lease.refreshed() }
        lease.linkUp()
        #expect(lease.renewed(isKnown: true, sessions) == true)
        _ = lease.nextSync { _ in [] }
        #expect(lease.synced(sessions) == .done(refreshes: true))
    }

    @Test("leaves that presence wasn't told of are kept in order, up to the limit, and told once")
    mutating func leaves() {
        let leaves = (0...PresenceLease.unannouncedMax).map { number in
            PresenceLease.Leave.ended(Self.caller(.test(UInt64(number))), .loggedOut)
        }
        for leave in leaves { lease.remember(leave) }
        #expect(lease.takeUnannounced() == Array(leaves.dropLast()))
        #expect(lease.takeUnannounced() == [])
    }

    // MARK: -

    /// All that are due, each done at once; a session that is to get all of its snapshots has one.
    private mutating func takeRefreshes() -> [UInt64: [Int]] {
        var refreshes: [UInt64: [Int]] = [:]
        while let next = lease.nextRefresh({ _ in [0] }) {
            refreshes[next.session.id.rawValue, default: []].append(next.channelIndex)
            lease.refreshed()
        }
        return refreshes
    }

    private mutating func sync(isKnown: Bool) {
        _ = lease.renewed(isKnown: isKnown, [])
        _ = lease.nextSync { _ in [] }
        _ = lease.synced([])
    }

    private static func caller(_ session: SessionKey) -> Caller {
        Caller(appID: "app", userID: "\(session.id.rawValue)", session: session.id, instance: 0)
    }

    private static func memberships(of session: SessionKey, count: Int) -> [Membership] {
        (0..<count).map {
            Membership(
                channel: .test("\($0)"), caller: caller(session), quiet: false, presenceTimeout: .seconds(5),
                ownership: 1)
        }
    }
}
