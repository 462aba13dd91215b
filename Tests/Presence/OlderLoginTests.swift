import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMPresenceServer

/// An edge whose session is older than the one that is listed has to know, because the newer one may be lost
/// later (S-12).
@Suite("Older logins at the presence service")
struct OlderLoginTests {
    private static let (older, newer) = (
        Caller.of("anna", session: 1), Caller.of("anna", session: 2, instance: 2)
    )

    private func join(_ caller: Caller, ownership: UInt64, _ service: ServiceFixture) async throws -> Bool {
        let answer = try await service.toPresence.request(
            PresenceMethod.join.number,
            JoinRequest(
                channel: .room, caller: caller, lease: 1, quiet: false, presenceTimeout: .seconds(60),
                wantsSnapshot: true, ownership: ownership))
        return try Rtm_Service_JoinResponse(serializedBytes: answer).older
    }

    /// Tells of Bob and of Anna's older login, as a whole report or once more. Returns the places of those
    /// who aren't listed.
    private func report(isWhole: Bool, _ service: ServiceFixture) async throws -> [UInt32] {
        let memberships = [(Caller.of("bob", session: 3), 3), (Self.older, 1)].map { caller, ownership in
            Membership(
                channel: .room, caller: caller, quiet: false, presenceTimeout: .seconds(60),
                ownership: UInt64(ownership))
        }
        let answer = try await service.toPresence.request(
            PresenceMethod.sync.number,
            SyncRequest(lease: 1, memberships: memberships, isFirst: isWhole, isLast: isWhole))
        return try Rtm_Service_SyncResponse(serializedBytes: answer).older.map(\.place)
    }

    @Test("S-12: the answers to a join and to a report say who isn't listed, until the newer login is lost")
    func unlisted() async throws {
        try await ServiceFixture.with { service in
            #expect(try await join(Self.newer, ownership: 2, service) == false)
            #expect(try await join(Self.older, ownership: 1, service) == true)
            #expect(try await report(isWhole: false, service) == [1])
            try await service.toPresence.push(
                PresenceMethod.sessionEnded.number, SessionEndedPush(caller: Self.newer, end: .lost))
            #expect(try await report(isWhole: false, service) == [])
            #expect(try await service.log().map(\.publisher) == ["anna", "bob", "anna", "anna"])
            #expect(try await service.log().last?.presence.type == .presenceEventRemoteJoin)
            // A whole report says it, too.
            #expect(try await join(Self.newer, ownership: 2, service) == false)
            #expect(try await report(isWhole: true, service) == [1])
        }
    }
}
