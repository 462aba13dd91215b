import RTMClient
import RTMTestKit

/// The program of Locks.md.
func locksArticle(_ world: TestWorld, _ print: @escaping Printing) async throws {
    let alice = try RTMClient(.init(servers: [world.server], appID: world.appID, userID: "alice"))
    let bob = try RTMClient(.init(servers: [world.server], appID: world.appID, userID: "bob"))
    for client in [alice, bob] {
        try await client.login()
        try await client.subscribe(to: "stage")
    }
    do throws(RTMError) {
        try await alice.setLock("microphone", in: "stage", ttl: .seconds(30))
    } catch RTMError.code(.lockAlreadyExist) {
        print("somebody has created it already")
    } catch {
        throw error
    }

    try await alice.withLock("microphone", in: "stage") { _ in
        print("alice speaks")
    }

    let token = try await alice.acquireLock("microphone", in: "stage")
    do throws(RTMError) {
        _ = try await bob.acquireLock("microphone", in: "stage")
    } catch RTMError.code(.lockAcquireFailed) {
        print("it is taken by", try await bob.locks(of: "stage").compactMap(\.owner))
    } catch {
        throw error
    }

    try await bob.revokeLock("microphone", from: "alice", in: "stage")
    let newer = try await bob.acquireLock("microphone", in: "stage", waits: true)
    print(newer > token)
    let stage = MetadataTarget.channel("stage")
    try await bob.setMetadata(
        ["speaker": "bob"], of: stage, options: .init(lock: "microphone", fencingToken: newer))
    do throws(RTMError) {
        try await alice.setMetadata(
            ["speaker": "alice"], of: stage, options: .init(lock: "microphone", fencingToken: token))
    } catch RTMError.code(.storageLockNotAcquired) {
        print("alice speaks no more")
    } catch {
        throw error
    }
    try await bob.releaseLock("microphone", in: "stage")
}
