import AgoraRtmKit
import Foundation
import RTMTestSupport
import Testing

/// Apps over metadata, as they were written against the vendor: they read a set with its revision, decide,
/// and write with that revision, from the first write on.
@Suite(.serialized, .ends(withinMinutes: 3)) struct MetadataAppTests {
    /// The app's own model of an auction: whoever bids reads the bid with its revision, and writes with it.
    private struct Auction {
        let kit: AgoraRtmClientKit
        let user: String
        let room: String

        /// - Returns: what the write was refused with, if it was.
        func bid(_ amount: Int, after seen: AgoraRtmMetadata? = nil) async throws -> AgoraRtmErrorCode? {
            let storage = try #require(kit.getStorage())
            var present = seen
            if present == nil { present = try await read() }
            let data = AgoraRtmMetadata()
            data.majorRevision = present?.majorRevision ?? -1
            data.items = [
                AgoraRtmMetadataItem(key: "bid", value: "\(amount)"),
                AgoraRtmMetadataItem(key: "bidder", value: user),
            ]
            let options = AgoraRtmMetadataOptions()
            (options.recordTs, options.recordUserId) = (true, true)
            return await storage.setChannelMetadata(
                channelName: room, channelType: .message, data: data, options: options, lock: nil
            ).1?.errorCode
        }

        func read() async throws -> AgoraRtmMetadata {
            let storage = try #require(kit.getStorage())
            let answer = try succeeded(
                await storage.getChannelMetadata(channelName: room, channelType: .message))
            return try #require(answer.data)
        }
    }

    @Test("D-5, D-8, D-9, D-30: an auction reads the revision and writes with it, from the revision 0 on")
    func auction() async throws {
        try await RunningSystem.with(.standalone) { system in
            let anna = try await AppClient.login("anna", at: system.address("edge"))
            let ben = try await AppClient.login("ben", at: system.address("edge"))
            let annas = try Auction(kit: anna.kit, user: "anna", room: "vase")
            let bens = try Auction(kit: ben.kit, user: "ben", room: "vase")
            let empty = try await annas.read()
            #expect(empty.majorRevision == 0 && empty.items?.isEmpty == true)
            #expect(try await annas.bid(10) == nil, "the first bid compares the revision 0 of an empty set")
            // Ben decides by what he read before that.
            #expect(try await bens.bid(5, after: empty) == .storageOutdatedRevision)
            #expect(try await bens.bid(20) == nil)
            let end = try await annas.read()
            #expect(end.items?.map(\.value) == ["20", "ben"])
            #expect(end.items?.map(\.authorUserId) == ["ben", "ben"] && end.majorRevision > 0)
            #expect(end.items?.allSatisfy { $0.updateTs > 0 } == true)
            let bad = AgoraRtmMetadata()
            bad.majorRevision = -2
            bad.items = [AgoraRtmMetadataItem(key: "bid", value: "0")]
            let refused = try await anna.kit.setChannelMetadata(
                channelName: "vase", channelType: .message, data: bad, options: nil, lock: nil)
            #expect(refused.1?.errorCode == .storageInvalidRevision)
            for client in [anna, ben] { client.destroy() }
        }
    }

    @Test("D-9, D-41: tic-tac-toe: who takes a free field writes its item with the revision 0, and one wins")
    func ticTacToe() async throws {
        try await RunningSystem.with(.standalone) { system in
            let players = try await [
                AppClient.login("cross", at: system.address("edge")),
                AppClient.login("nought", at: system.address("edge")),
            ]
            let options = AgoraRtmSubscribeOptions()
            options.features = [.metadata]
            for player in players {
                try succeeded(await player.kit.subscribe(channelName: "board", option: options))
                try await eventually("the snapshot") { !player.storage.present.isEmpty }
                let snapshot = try #require(player.storage.present.first)
                #expect(snapshot.eventType == .snapshot && snapshot.data.majorRevision == 0)
            }
            func take(_ field: Int, _ player: Int) async throws -> AgoraRtmErrorCode? {
                // The board as the last event shows it.
                let board = try #require(players[player].storage.present.last).data
                let known = board.items?.first { $0.key == "field\(field)" }?.revision ?? 0
                let mark = player == 0 ? "x" : "o"
                let data = AgoraRtmMetadata()
                data.items = [AgoraRtmMetadataItem(key: "field\(field)", value: mark, revision: known)]
                return try await players[player].kit.setChannelMetadata(
                    channelName: "board", channelType: .message, data: data, options: nil, lock: nil
                ).1?.errorCode
            }
            func seen(_ count: Int) async throws {
                try await eventually("both see \(count) writes") {
                    players.allSatisfy { $0.storage.present.count == count + 1 }
                }
            }
            // Both want the middle at the same moment.
            async let first = take(4, 0)
            async let second = take(4, 1)
            let outcomes = try await [first, second]
            #expect(outcomes.count { $0 == nil } == 1)
            #expect(outcomes.count { $0 == .storageOutdatedRevision } == 1)
            try await seen(1)
            #expect(try await take(0, 0) == nil)
            try await seen(2)
            #expect(try await take(8, 1) == nil)
            try await seen(3)
            let boards = players.map { $0.storage.present.last?.data.items?.map(\.key) ?? [] }
            #expect(boards == [["field4", "field0", "field8"], ["field4", "field0", "field8"]])
            for player in players { player.destroy() }
        }
    }

    @Test(
        "D-9, D-16, D-44: a profile: another user writes one's metadata from the revision 0, and follows it")
    func profile() async throws {
        try await RunningSystem.with(.standalone) { system in
            let anna = try await AppClient.login("anna", at: system.address("edge"))
            let ben = try await AppClient.login("ben", at: system.address("edge"))
            // The first write is made inside of the callback of the snapshot, with the revision 0 it has.
            let kit = try ben.kit
            ben.onStorage.withLock {
                $0 = { event in
                    guard event.eventType == .snapshot else { return }
                    let data = AgoraRtmMetadata()
                    data.majorRevision = event.data.majorRevision
                    data.items = [AgoraRtmMetadataItem(key: "note", value: "hello")]
                    kit.setUserMetadata(userId: "anna", data: data, options: nil) { _, error in
                        ben.log.withLock { $0.append("written \(error?.errorCode.rawValue ?? 0)") }
                    }
                }
            }
            try succeeded(await kit.subscribeUserMetadata(userId: "anna"))
            try await eventually("the write and its event") {
                ben.storage.present.count >= 2 && ben.log.present.contains("written 0")
            }
            let update = try #require(ben.storage.present.last)
            #expect(update.target == "anna" && update.eventType == .update)
            #expect(update.data.items?.map(\.value) == ["hello"])
            // Anna adds an item with the revision of the set that she reads, and updates one with its own.
            let answer = try succeeded(await anna.kit.getUserMetadata(userId: ""))
            let own = try #require(answer.data)
            let more = AgoraRtmMetadata()
            more.majorRevision = own.majorRevision
            let item = try #require(own.items?.first)
            more.items = [
                AgoraRtmMetadataItem(key: "note", value: "hi", revision: item.revision),
                AgoraRtmMetadataItem(key: "mood", value: "fine", revision: 0),
            ]
            try succeeded(await anna.kit.setUserMetadata(userId: "", data: more, options: nil))
            try succeeded(
                await anna.kit.removeUserMetadata(userId: "anna", data: AgoraRtmMetadata(), options: nil))
            for client in [anna, ben] { client.destroy() }
        }
    }

    @Test("D-20: an app that takes a lock, writes with it from the revision 0, and gives it back")
    func locked() async throws {
        try await RunningSystem.with(.standalone) { system in
            let anna = try await AppClient.login("anna", at: system.address("edge"))
            let kit = try anna.kit
            let data = AgoraRtmMetadata()
            data.majorRevision = 0
            data.items = [AgoraRtmMetadataItem(key: "k", value: "v", revision: 0)]
            func write(_ lock: String) async -> AgoraRtmErrorCode? {
                await kit.setChannelMetadata(
                    channelName: "room", channelType: .message, data: data, options: nil, lock: lock
                ).1?.errorCode
            }
            try succeeded(
                await kit.setLock(channelName: "room", channelType: .message, lockName: "host", ttl: 30))
            #expect(await write("host") == .storageLockNotAcquired)
            try succeeded(
                await kit.acquireLock(
                    channelName: "room", channelType: .message, lockName: "host", retry: false))
            #expect(await write("host") == nil)
            #expect(await write("host") == .storageOutdatedRevision)
            try succeeded(
                await kit.releaseLock(channelName: "room", channelType: .message, lockName: "host"))
            anna.destroy()
        }
    }
}
