import RTMClient
import RTMClientTestSupport
import RTMModel
import RTMTestSupport
import Testing

/// Locks whose owners are lost or leave, and history, after the scenarios of the reference and the defects
/// that others admit. The tests run in real time: 10 s is the shortest time that a lock outlives its owner
/// (L-40).
@Suite(.serialized, .ends(withinMinutes: 3)) struct StorageScenarioTests {
    /// Anna's line goes through the proxy, and Cleo watches the locks.
    private func withClients(
        _ body: (_ anna: RTMClient, _ ben: RTMClient, _ cleo: RTMClient, FaultProxy) async throws -> Void
    ) async throws {
        let edge = ["--edge-rates-channel-metadata", "0"]
        try await RunningSystem.with(.standalone, edge: edge) { system in
            let proxy = try await FaultProxy.start(to: system.address("edge"))
            let server = try ServerAddress(proxy.address)
            let anna = try system.client("anna") { $0.servers = [server] }
            let (ben, cleo) = (try system.client("ben"), try system.client("cleo"))
            for client in [anna, ben, cleo] { try await client.login() }
            try await body(anna, ben, cleo, proxy)
            for client in [anna, ben, cleo] { await client.close() }
            try await proxy.stop()
        }
    }

    private func next(
        _ count: Int, _ events: inout RTMEvents.Iterator
    ) async -> [String] {
        var texts: [String] = []
        while texts.count < count, let event = await events.nextLock() {
            let locks = event.locks.map { "\($0.name) \($0.owner ?? "-")" }
            texts.append((["\(event.kind)"] + locks).joined(separator: " "))
        }
        return texts
    }

    @Test(
        "Appendix D, S-45, K-5, K-11, K-12: the owner is silently cut: released 10 s after it is offline, the next in line has the lock, the owner hears on its return that it is lost"
    )
    func ownerCut() async throws {
        try await withClients { anna, ben, cleo, proxy in
            var events = cleo.events().makeAsyncIterator()
            var received = anna.events().makeAsyncIterator()
            try await cleo.subscribe(to: "lobby", features: .lock)
            try await anna.setLock("manage", in: "lobby", ttl: .seconds(10))
            _ = try await anna.acquireLock("manage", in: "lobby")
            let wait = Task { try await ben.acquireLock("manage", in: "lobby", waits: true) }
            #expect(await next(3, &events) == ["snapshot", "set manage -", "acquired manage anna"])
            let start = ContinuousClock.now
            proxy.refuse(true)
            proxy.spoil(.stall)
            #expect(await next(2, &events) == ["released manage anna", "acquired manage ben"])
            // Her last heartbeat was at most 5 s old. She has 15 s from it, and then the 10 s of the lock.
            #expect(ContinuousClock.now - start >= .seconds(10 + 10))
            _ = try await wait.value
            proxy.refuse(false)
            anna.networkChanged()
            let loss = await received.nextLock()
            #expect(loss?.kind == .expired && loss?.locks.map(\.name) == ["manage"])
            #expect(try await anna.locks(of: "lobby").map(\.owner) == ["ben"])
            #expect(await code { try await anna.releaseLock("manage", in: "lobby") } == .lockNotAcquired)
        }
    }

    @Test(
        "Appendix D, K-11: the owner is cut, or unsubscribes, and is back within the ttl: no event, still the owner"
    )
    func ownerBack() async throws {
        try await withClients { anna, _, cleo, proxy in
            var events = cleo.events().makeAsyncIterator()
            var links = anna.events().makeAsyncIterator()
            try await cleo.subscribe(to: "lobby", features: .lock)
            try await anna.subscribe(to: "lobby", features: [.message, .lock])
            try await anna.setLock("manage", in: "lobby", ttl: .seconds(10))
            let token = try await anna.acquireLock("manage", in: "lobby")
            try await anna.unsubscribe(from: "lobby")
            try await anna.subscribe(to: "lobby", features: [.message, .lock])
            proxy.spoil(.reset)
            #expect(await links.nextLinkState(.disconnected) != nil)
            #expect(await links.nextLinkState(.connected) != nil)
            let start = ContinuousClock.now
            while ContinuousClock.now - start < .seconds(11) { await letPass(.milliseconds(500)) }
            let locks = try await anna.locks(of: "lobby")
            #expect(locks.map(\.owner) == ["anna"] && locks.map(\.fencingToken) == [token])
            try await anna.releaseLock("manage", in: "lobby")
            #expect(
                await next(4, &events) == [
                    "snapshot", "set manage -", "acquired manage anna", "released manage anna",
                ])
        }
    }

    @Test("Web 2.2.3: a lock is released after its channel was unsubscribed; 2.1.10: a removal is told once")
    func releasedAfterwards() async throws {
        try await withClients { anna, _, cleo, _ in
            var events = cleo.events().makeAsyncIterator()
            try await cleo.subscribe(to: "lobby", features: .lock)
            try await anna.subscribe(to: "lobby", features: [.message, .lock])
            try await anna.setLock("manage", in: "lobby")
            _ = try await anna.acquireLock("manage", in: "lobby")
            try await anna.unsubscribe(from: "lobby")
            try await anna.releaseLock("manage", in: "lobby")
            try await anna.removeLock("manage", in: "lobby")
            #expect(await code { try await anna.removeLock("manage", in: "lobby") } == .lockNotExist)
            // An event that came twice would come before this one.
            try await anna.setLock("end", in: "lobby")
            #expect(
                await next(6, &events) == [
                    "snapshot", "set manage -", "acquired manage anna", "released manage anna",
                    "removed manage -", "set end -",
                ])
        }
    }

    @Test("Web 2.2.2, Web 2.1.10: what was removed can't be read again, and each update is told once")
    func metadataOnce() async throws {
        try await withClients { anna, ben, cleo, _ in
            var events = cleo.events().makeAsyncIterator()
            let lobby = MetadataTarget.channel("lobby")
            try await cleo.subscribe(to: "lobby", features: .metadata)
            #expect(await events.nextStorage()?.kind == .snapshot)
            var revisions: [Int64] = []
            for number in 0..<50 {
                let writer = number.isMultiple(of: 2) ? anna : ben
                revisions.append(try await writer.setMetadata(["n": "\(number)"], of: lobby))
            }
            revisions.append(try await anna.removeMetadata(["n"], of: lobby))
            for client in [anna, ben, cleo] {
                #expect(try await client.metadata(of: lobby)["n"] == nil)
            }
            var reported: [Int64] = []
            while reported.count < revisions.count, let event = await events.nextStorage() {
                reported.append(event.metadata.majorRevision)
            }
            #expect(reported == revisions)
        }
    }

    @Test(
        "Appendix D, M-31, M-32, H-2: what was stored for an offline user is found by him, and by nobody else"
    )
    func inboxHistory() async throws {
        try await withClients { anna, ben, _, _ in
            try await ben.logout()
            let lost = await code { try await anna.publish("lost", to: .user("ben")) }
            #expect(lost == .channelReceiverOffline)
            for text in ["first", "second"] {
                let refusal = await code {
                    try await anna.publish(text, to: .user("ben"), storeInHistory: true)
                }
                #expect(refusal == .channelReceiverOfflineButMessageStoreSucceeded)
            }
            try await ben.login()
            let page = try await ben.history(of: .user("ben"))
            #expect(page.messages.map(\.payload) == [.text("second"), .text("first")])
            #expect(page.messages.map(\.publisher) == ["anna", "anna"])
            let others = await code { _ = try await anna.history(of: .user("ben")) }
            #expect(others == .historyOperationNotPermitted)
        }
    }

    @Test("H-6 to H-8, L-20: forty of the largest messages are read whole, page by page, over one connection")
    func largeHistory() async throws {
        try await withClients { anna, ben, _, _ in
            let texts = (10..<50).map { "\($0)" + String(repeating: "x", count: 32_766) }
            for text in texts {
                let refusal = await code {
                    try await anna.publish(text, to: .user("nobody"), storeInHistory: true)
                }
                #expect(refusal == .channelReceiverOfflineButMessageStoreSucceeded)
                try await anna.publish(text, to: .channel("archive"), storeInHistory: true)
            }
            var seen: [MessagePayload] = []
            var start: UInt64?
            repeat {
                let page = try await ben.history(of: .channel("archive"), start: start)
                seen += page.messages.map(\.payload)
                start = page.nextStart
            } while start != nil
            #expect(seen == texts.reversed().map(MessagePayload.text))
            #expect(ben.linkState == .connected)
        }
    }
}
