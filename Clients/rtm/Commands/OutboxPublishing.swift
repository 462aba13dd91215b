import Foundation
import RTMClient

extension CommonOptions {
    /// Publishes through an outbox: what the command is given is on the disk before anything else happens.
    ///
    /// - Throws: why the user can't log in or is logged out, or what the first message ended with that wasn't
    ///   published. What has had no end stays in the file.
    func publish(
        _ message: PayloadArguments, to destination: MessageDestination, through file: String
    ) async throws {
        try destination.argument.check()
        let settings = try settings()
        let client = try RTMClient(configuration(settings))
        // Unstructured: it counts until the client is closed, on each path.
        let tally = Task { [events = client.events()] in await OutboxTally(of: events) }
        do {
            let outbox = try await client.openOutbox(at: URL(fileURLWithPath: file))
            let take: @Sendable (MessagePayload) async throws -> Void = { payload in
                _ = try await respectingRates { () async throws(RTMError) in
                    try await outbox.publish(
                        payload, to: destination, customType: message.customType,
                        storeInHistory: message.history)
                }
            }
            if !message.lines { try await take(message.payload()) }
            try await logIn(client, settings)
            if message.lines { _ = try await message.eachLine(take) }
            try await outbox.waitUntilEmpty(orFailureOf: client)
        } catch {
            await client.close()
            throw error
        }
        await client.close()
        let result = await tally.value
        if let error = result.failure { throw error }
        try await output.result("ok", ["result": "ok", "published": .number(result.published)])
    }
}

extension RTMOutbox {
    /// - Throws: what logged the user out for good.
    fileprivate func waitUntilEmpty(orFailureOf client: RTMClient) async throws {
        let events = client.events()
        _ = try await race(
            { try await waitUntilEmpty() },
            {
                for await case .linkState(let change) in events {
                    if let error = change.failure { throw error }
                }
            })
    }
}

/// How the messages of an outbox have ended.
private struct OutboxTally {
    var published = 0
    /// Of the first that wasn't published.
    var failure: RTMError?

    init(of events: RTMEvents) async {
        for await case .outbox(let event) in events {
            switch event.outcome {
            case .published: published += 1
            case .refused(let error), .unknown(let error): failure = failure ?? error
            }
        }
    }
}
