import Foundation
import RTMClient

extension CommonOptions {
    /// Publishes through an outbox: what the command is given is on the disk before it is sent, and also
    /// where no server is there.
    ///
    /// - Throws: `.invalidParameter` (-10014) for a guest, whose name no later command has; why the user
    ///   can't log in or is logged out; or what the first message ended with that wasn't published. What has
    ///   not ended stays in the file.
    func publish(
        _ message: PayloadArguments, to destination: MessageDestination, through file: String
    ) async throws {
        try destination.argument.check()
        let settings = try settings()
        guard !settings.isGuest else {
            throw RTMError(
                .invalidParameter,
                "an outbox belongs to one user: name that user with --user, RTM_USER or a context",
                operation: "publish")
        }
        let client = try RTMClient(configuration(settings))
        // Unstructured: it counts until the client is closed, on each path.
        let tally = Task { [events = client.events()] in await OutboxTally(of: events) }
        do {
            let outbox = try await client.openOutbox(at: URL(fileURLWithPath: file))
            if !message.lines { try await outbox.take(message.payload(), message, destination) }
            // Unstructured: lines are taken meanwhile, and those of a full outbox wait for it.
            let login = Task { try await logIn(client, settings) }
            defer { login.cancel() }
            try await client.unlessLoggedOut(after: login) {
                if message.lines {
                    _ = try await message.eachLine { payload in
                        while try await !outbox.hasTaken(payload, message, destination) {
                            try await login.value
                            try await outbox.waitUntilEmpty()
                        }
                    }
                }
                try await login.value
                try await outbox.waitUntilEmpty()
            }
        } catch {
            await client.close()
            throw error
        }
        await client.close()
        let result = await tally.value
        if let error = result.failure { throw error }
        try await output.published(result.published, isMany: message.lines)
    }
}

extension RTMOutbox {
    fileprivate func take(
        _ payload: MessagePayload, _ message: PayloadArguments, _ destination: MessageDestination
    ) async throws(RTMError) {
        try await publish(
            payload, to: destination, customType: message.customType, storeInHistory: message.history)
    }

    /// - Returns: false if the outbox is full.
    fileprivate func hasTaken(
        _ payload: MessagePayload, _ message: PayloadArguments, _ destination: MessageDestination
    ) async throws(RTMError) -> Bool {
        do throws(RTMError) {
            try await take(payload, message, destination)
            return true
        } catch {
            guard error.code == .channelPublishMessageTooFrequent else { throw error }
            return false
        }
    }
}

extension RTMClient {
    /// - Throws: what ended the session for good after the login, if that comes first.
    fileprivate func unlessLoggedOut(
        after login: Task<Void, any Error>, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let _: Void? = try await race(
            work,
            {
                // The work asks for the login itself, when it has done what needs none.
                guard (try? await login.value) != nil else { return try await forever() }
                let events = self.events()
                guard self.linkState != .failed else { throw RTMError(.notLogin, "the session has ended") }
                for await case .linkState(let change) in events {
                    if let error = change.failure { throw error }
                }
                return try await forever()
            })
    }
}

/// How the messages of an outbox have ended.
private struct OutboxTally {
    var published = 0
    /// The error of the first message that wasn't published.
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
