import RTMWire
import Testing

@testable import RTMStorageServer

/// Which changes there are between the states of a node, and that there are no others.
@Suite("Whether a storage node serves")
struct StorageLeadershipTests {
    private typealias State = StorageLeadership.State
    private typealias Action = StorageLeadership.Action

    private enum Event: CaseIterable {
        case beganAlone, beganEarlier, beganLater, lost, released
    }

    private struct Arrow {
        let from: State
        let event: Event
        let action: Action
        let to: State
    }

    private static let arrows: [Arrow] = [
        .init(from: .alone, event: .beganAlone, action: .beginAnew, to: .alone),
        .init(from: .following, event: .beganEarlier, action: .becomeLeader, to: .leading(term: 7)),
        .init(from: .following, event: .beganLater, action: .becomeLeader, to: .leading(term: 9)),
        .init(from: .leading(term: 7), event: .beganEarlier, action: .beginAnew, to: .leading(term: 7)),
        .init(from: .leading(term: 7), event: .beganLater, action: .beginAnew, to: .leading(term: 9)),
        .init(from: .leading(term: 7), event: .lost, action: .follow(isPlanned: false), to: .following),
        .init(from: .leading(term: 7), event: .released, action: .follow(isPlanned: true), to: .following),
        .init(from: .following, event: .lost, action: .none, to: .following),
        .init(from: .following, event: .released, action: .none, to: .following),
        .init(from: .alone, event: .lost, action: .none, to: .alone),
    ]

    private func leadership(_ state: State) -> StorageLeadership {
        var leadership = StorageLeadership(hasOthers: state != .alone)
        if case .leading(let term) = state { _ = leadership.changed(.began(term: term)) }
        return leadership
    }

    @Test("D-19: each arrow has its action, and ends in its state")
    func arrows() {
        for arrow in Self.arrows {
            var leadership = leadership(arrow.from)
            #expect(leadership.state == arrow.from)
            let action =
                switch arrow.event {
                case .beganAlone: leadership.changed(.began(term: nil))
                case .beganEarlier: leadership.changed(.began(term: 7))
                case .beganLater: leadership.changed(.began(term: 9))
                case .lost: leadership.changed(.lost(isPlanned: false))
                case .released: leadership.changed(.lost(isPlanned: true))
                }
            #expect(action == arrow.action, "\(arrow)")
            #expect(leadership.state == arrow.to, "\(arrow)")
        }
    }

    @Test("D-19: a node serves when it leads or is alone, and announces itself only with others beside it")
    func announcements() {
        #expect(leadership(.alone).serves && leadership(.alone).announcement == nil)
        #expect(!leadership(.following).serves && leadership(.following).announcement == nil)
        #expect(leadership(.leading(term: 7)).serves)
        // Every later term is accepted, whatever the caller knows.
        #expect(leadership(.leading(term: 7)).announcement == LeaderPush(term: 7, follows: 6))
    }
}
