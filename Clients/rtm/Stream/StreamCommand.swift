import ArgumentParser
import Foundation
import RTMClient

struct StreamCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream",
        abstract: "Join stream channels, and receive or publish their topics.",
        subcommands: [StreamJoinCommand.self, StreamPublishCommand.self, StreamWatchCommand.self])
}

/// Names a stream channel.
struct StreamArguments: ParsableArguments {
    @Argument(help: "Name of the stream channel.")
    var channel: String

    @Option(
        help: .init(
            "Token with an rtc service for the channel, for an app with a certificate.", valueName: "token"))
    var joinToken: String?
}

extension CommonOptions {
    /// Joins, works, leaves.
    fileprivate func inStream(
        _ stream: StreamArguments, topic: String? = nil, quietly: Bool = false,
        _ work: (RTMClient, StreamChannel, RTMEvents) async throws -> Void
    ) async throws {
        if let topic { try NameRule.topic.check(topic.utf8) }
        try await withClient(settings(), naming: [.channel(stream.channel)]) { client in
            let events = client.events()
            let features: SubscriptionFeatures = quietly ? [.quiet] : [.presence]
            try await client.withStreamChannel(
                stream.channel, token: stream.joinToken, features: features
            ) { channel in
                try await work(client, channel, events)
            }
        }
    }
}

struct StreamJoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Join a stream channel, and show the messages of a topic as they arrive.",
        discussion: """
            It runs until it is interrupted (exit status 0), until --count messages have been shown (0), or \
            until --timeout is over (2). Users whom --subscribe names needn't publish the topic yet: none of \
            their messages is missed. Without --subscribe it subscribes to all who publish the topic, and to \
            those who begin later as soon as that is announced, which their first messages may precede.
            """)

    @OptionGroup var stream: StreamArguments

    @Option(help: "The topic whose messages are shown.")
    var topic: String

    @Option(
        name: .customLong("subscribe"),
        help: .init("User whose messages are shown; repeat it for several users.", valueName: "user"))
    var users: [String] = []

    @Option(help: .init("End after this many messages.", valueName: "n"))
    var count: Int?

    @Option(
        help: .init("End this long after the join, with exit status 2.", valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var timeout: Duration?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
        if Set(users).count > Limits.topicPublishersMax {
            throw ValidationError(
                "--subscribe names \(Set(users).count) users, \(Limits.topicPublishersMax) are allowed")
        }
    }

    func run() async throws {
        try await common.run(whenInterrupted: .success) {
            try await common.inStream(stream, topic: topic) { _, channel, events in
                let output = common.output
                if !users.isEmpty { try await channel.subscribe(to: topic, users: users) }
                try await output.status(
                    "joined \(channel.name), waiting for topic \(topic)", "joined",
                    ["channelName": .string(channel.name), "topic": .string(topic)])
                let listen: @Sendable () async throws -> ExitCode = {
                    try await receive(channel, events, output)
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
    }

    /// Shows what comes. If no users are named, it subscribes to whoever publishes the topic, now and
    /// whenever somebody begins.
    private func receive(_ channel: StreamChannel, _ events: RTMEvents, _ output: Output) async throws {
        var remaining = count
        for await event in events {
            switch event {
            case .topic(let change) where change.channelName == channel.name:
                try await output.event(event)
                let publishers = users.isEmpty ? publishers(after: change) : []
                if !publishers.isEmpty {
                    try await channel.subscribe(to: topic, users: publishers)
                }
            case .message(let message) where message.topic == topic:
                try await output.event(event)
                guard let count = remaining else { continue }
                remaining = count - 1
                if remaining == 0 { return }
            case .linkState(let change):
                try await output.event(event)
                if let error = change.failure { throw error }
            case .streamChannelEnded(let ended) where ended.channelName == channel.name: throw ended.error
            case .gap, .undecryptable, .overflow: try await output.event(event)
            default: break
            }
        }
    }

    private func publishers(after change: TopicEvent) -> [String] {
        let publishers: [TopicPublisher] =
            switch change.change {
            case .snapshot(let topics): topics.first { $0.name == topic }?.publishers ?? []
            case .joined(let name, let publisher): name == topic ? [publisher] : []
            case .left: []
            }
        return publishers.map(\.userID)
    }
}

struct StreamPublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Join a stream channel and a topic, and publish to the topic.",
        discussion: """
            A text that begins with '-' goes behind '--'. The text '-' publishes each line of standard input.
            """)

    @OptionGroup var stream: StreamArguments

    @Option(help: "The topic.")
    var topic: String

    @Option(help: .init("What others learn of this publisher.", valueName: "text"))
    var meta = ""

    @Option(
        help: .init(
            "What goes first to who reads slowly: highest, high, normal or low.", valueName: "priority"),
        transform: { try TopicPriority(argument: $0) })
    var priority = TopicPriority.normal

    @Option(
        help: .init(
            "Wait this long between joining the topic and publishing, so that others can subscribe.",
            valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var wait: Duration?

    @Argument(help: "The text, or '-' for the lines of standard input.")
    var text: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run {
            try await common.inStream(stream, topic: topic, quietly: false) { _, channel, _ in
                try await channel.joinTopic(topic, meta: meta, priority: priority)
                if let wait { try await Task.sleep(for: wait) }
                let count = try await publish(in: channel)
                try await common.output.published(count, isMany: text == "-")
            }
        }
    }

    private func publish(in channel: StreamChannel) async throws -> Int {
        guard text == "-" else {
            try await publish(text, in: channel)
            return 1
        }
        let input = try StandardInput()
        var splitter = LineSplitter()
        var count = 0
        while let bytes = await input.next() {
            for line in try splitter.split(bytes) {
                try await publish(line, in: channel)
                count += 1
            }
        }
        try Task.checkCancellation()
        if let line = splitter.finish() {
            try await publish(line, in: channel)
            count += 1
        }
        return count
    }

    private func publish(_ line: String, in channel: StreamChannel) async throws {
        _ = try await respectingRates { () async throws(RTMError) in
            try await channel.publish(line, to: topic)
        }
    }
}

struct StreamWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show who is in a stream channel, who publishes which topics, and each change.",
        discussion:
            "It runs until it is interrupted (exit status 0), or until --count events have been shown.")

    @OptionGroup var stream: StreamArguments

    @Option(help: .init("End after this many events.", valueName: "n"))
    var count: Int?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
    }

    func run() async throws {
        try await common.run(whenInterrupted: .success) {
            try await common.inStream(stream) { _, _, events in
                try await common.output.show(events, until: count) { event in
                    switch event {
                    case .topic, .presence: true
                    default: false
                    }
                }
            }
        }
    }
}

extension TopicPriority {
    fileprivate init(argument: String) throws {
        guard let priority = TopicPriority.allCases.first(where: { "\($0)" == argument }) else {
            throw ValidationError("'\(argument)' is not a priority: highest, high, normal, low")
        }
        self = priority
    }
}
