import ArgumentParser
import RTMClient

struct SubscribeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Show the messages of channels, and those sent to the user itself, as they arrive.",
        discussion: """
            It runs until it is interrupted (exit status 0), until --count messages have been shown (0), or \
            until --timeout is over (2).
            """)

    @Argument(help: .init("Names of message channels.", valueName: "channel"))
    var channels: [String]

    @Option(help: .init("End after this many messages.", valueName: "n"))
    var count: Int?

    @Option(
        help: .init(
            "End this long after the subscription has begun, with exit status 2.", valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var timeout: Duration?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
    }

    func run() async throws {
        try await common.run(whenInterrupted: .success) {
            let settings = try common.settings()
            try await common.withClient(settings, naming: channels.map { .channel($0) }) { client in
                let events = client.events()
                for channel in channels { try await client.subscribe(to: channel, features: .message) }
                let output = common.output
                try await output.status(
                    "subscribed to \(channels.joined(separator: ", ")) as \(settings.userID)", "subscribed",
                    ["channels": .strings(channels), "userId": .string(settings.userID)])
                try await show(events, with: output)
            }
        }
    }

    private func show(_ events: RTMEvents, with output: Output) async throws {
        let listen: @Sendable () async throws -> ExitCode = {
            try await output.show(events, messages: count)
            return .success
        }
        guard let timeout else {
            _ = try await listen()
            return
        }
        let status = try await race(
            listen,
            {
                try await Task.sleep(for: timeout)
                return .timeout
            })
        if let status, status != .success { throw status }
    }
}

extension Output {
    /// Shows events as they come, until `messages` of them were messages.
    ///
    /// - Throws: the cause when the link has failed for good.
    func show(_ events: RTMEvents, messages: Int? = nil) async throws {
        try await show(events, until: messages) { if case .message = $0 { true } else { false } }
    }

    /// Shows events as they come, until `count` of them were of the counted kind.
    ///
    /// - Throws: the cause when the link has failed for good.
    func show(
        _ events: RTMEvents, until count: Int?, _ isCounted: (RTMEvent) -> Bool
    ) async throws {
        var remaining = count
        for await event in events {
            try await self.event(event)
            if isCounted(event), let count = remaining {
                remaining = count - 1
                if remaining == 0 { return }
            }
            if case .linkState(let change) = event, let error = change.failure { throw error }
        }
    }
}

extension LinkStateEvent {
    /// The error that ends a command, if the link has failed for good.
    var failure: RTMError? {
        guard currentState == .failed else { return nil }
        let code: ErrorCode =
            switch reasonCode {
            case .sameUidLogin: .loginAborted
            case .kickedOutByServer, .loginRejected: .loginRejected
            case .loginNotAuthorized: .loginNotAuthorized
            case .invalidToken: .invalidToken
            case .tokenExpired: .tokenExpired
            case .inconsistentAppId: .loginInconsistentAppId
            case .loginTimeout, .reconnectTimeout: .loginTimeout
            default: .notConnected
            }
        return RTMError(code, reason.isEmpty ? "\(reasonCode)" : reason, operation: "\(operation)")
    }
}
