import ArgumentParser
import RTMClient

struct PresenceSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Join a channel with states of this user, and show who else is there.",
        discussion: """
            It runs until it is interrupted (exit status 0), because the states end with the user's presence. \
            --for ends it by itself.
            """)

    @Argument(help: "Name of the message channel.")
    var channel: String

    @Argument(help: .init("States to show.", valueName: "key=value"))
    var states: [String]

    @Option(
        name: .customLong("for"),
        help: .init("End this long after the states were set.", valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var time: Duration?

    @OptionGroup var common: CommonOptions

    func validate() throws { _ = try StateArguments.items(states) }

    func run() async throws {
        let items = try StateArguments.items(states)
        try await common.run(whenInterrupted: .success) {
            try await common.withClient(common.settings(), naming: [.channel(channel)]) { client in
                let events = client.events()
                let output = common.output
                try await client.subscribe(to: channel, features: .presence)
                try await client.setState(items, in: channel)
                try await output.result("ok")
                guard let time else { return try await output.show(events) }
                _ = try await race({ try await output.show(events) }, { try await Task.sleep(for: time) })
            }
        }
    }
}

struct PresenceRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove states of this user in a channel.",
        discussion: """
            The user has one session: where --user is logged in already, that session ends, and its states \
            with it. Without KEY all states are taken back.
            """)

    @Argument(help: "Name of the message channel.")
    var channel: String

    @Argument(help: .init("Keys of states.", valueName: "key"))
    var keys: [String] = []

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run {
            try await common.withClient(common.settings(), naming: [.channel(channel)]) { client in
                try await client.subscribe(to: channel, features: .presence)
                try await client.removeState(keys, in: channel)
                try await common.output.result("ok")
            }
        }
    }
}

struct PresenceWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show who is in a channel, and what changes.",
        discussion: """
            It runs until it is interrupted (exit status 0). The user itself isn't seen by the others. With \
            --json each line has the changes and everybody who is there then.
            """)

    @Argument(help: "Name of the message channel.")
    var channel: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run(whenInterrupted: .success) {
            try await common.withClient(common.settings(), naming: [.channel(channel)]) { client in
                let events = client.events()
                let roster = client.roster(of: channel)
                var output = common.output
                output.transcript.showsChannel = false
                try await client.subscribe(to: channel, features: [.presence, .quiet])
                let shown = output
                switch output.format {
                case .human: try await shown.show(events)
                case .json:
                    _ = try await race(
                        { for await update in roster { try await shown.result(nil, "roster", update.json) } },
                        { try await shown.watchLink(events) })
                }
            }
        }
    }
}

extension Output {
    /// - Throws: the cause when the link has failed for good.
    fileprivate func watchLink(_ events: RTMEvents) async throws {
        for await event in events {
            switch event {
            case .linkState(let change):
                try await self.event(event)
                if let error = change.failure { throw error }
            case .presence(let presence):
                if case .outage = presence.change { try await self.event(event) }
            default: break
            }
        }
    }
}

/// States as arguments: `mood=happy`.
enum StateArguments {
    /// - Throws: for an argument without '=', and for a key that is given twice (`.presenceStateDuplicateKey`
    ///   (-13010) in the public API).
    static func items(_ arguments: [String]) throws -> [String: String] {
        guard !arguments.isEmpty else { throw ValidationError("a KEY=VALUE is needed") }
        var items: [String: String] = [:]
        for argument in arguments {
            guard let sign = argument.firstIndex(of: "="), sign != argument.startIndex else {
                throw ValidationError("'\(argument)' isn't KEY=VALUE")
            }
            let key = String(argument[..<sign])
            guard items.updateValue(String(argument[argument.index(after: sign)...]), forKey: key) == nil
            else { throw ValidationError("the key '\(key)' is given twice") }
        }
        return items
    }
}
