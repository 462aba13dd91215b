import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// What an operator asks of the storage service that runs: who may not log in (S-4). The service takes it
/// over its link, as it takes what edges ask, so that only who knows the secret of the installation can ask.
enum OperatorCommands {
    static func all(listen: ConfigurationKey<HostPort>) -> [ProgramCommand] {
        [
            ProgramCommand(
                "kick", argument: "APP/USER", "Ends the user's session; the user may log in again."
            ) {
                configuration, text in
                let user = try user(text, parts: 2)
                try send(Ban(user, endsSession: true), configuration, listen)
                return "the session of \(user.user) was ended\n"
            },
            ProgramCommand(
                "ban", argument: "APP/USER/DURATION",
                "Ends the user's session, and lets the user in again after that time."
            ) { configuration, text in
                let user = try user(text, parts: 3)
                let until = WallClock.milliseconds() + UInt64(user.duration / .milliseconds(1))
                try send(Ban(user, until: until, endsSession: true), configuration, listen)
                return "\(user.user) may not log in for \(UnitText.duration(user.duration))\n"
            },
            ProgramCommand("unban", argument: "APP/USER", "Lets a user in again who was shut out.") {
                configuration, text in
                let user = try user(text, parts: 2)
                try send(Ban(user, endsSession: false), configuration, listen)
                return "\(user.user) may log in\n"
            },
        ]
    }

    struct Argument: Equatable {
        let app: String
        let user: String
        var duration = Duration.zero
    }

    /// Neither an app id nor a user id has a slash.
    static func user(_ text: String, parts: Int) throws(ServiceFailure) -> Argument {
        let words = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard words.count == parts, !words[0].isEmpty else {
            let form = parts == 2 ? "APP/USER" : "APP/USER/DURATION"
            throw .configuration("\"\(text)\" is not \(form)")
        }
        do {
            try NameRule.user.check(words[1].utf8)
        } catch {
            throw .configuration(error.reason)
        }
        guard parts == 3 else { return Argument(app: words[0], user: words[1]) }
        guard let duration = try? UnitText.duration(words[2]), duration > .zero else {
            throw .configuration("\"\(words[2])\" is not a duration such as 10m")
        }
        return Argument(app: words[0], user: words[1], duration: duration)
    }

    /// How long the service may take to answer.
    private static let timeout = Duration.seconds(10)

    private static func send(
        _ ban: Ban, _ configuration: Configuration, _ listen: ConfigurationKey<HostPort>
    ) throws {
        let address = configuration[listen]
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        defer { try? group.syncShutdownGracefully() }
        let loop = group.next()
        let settings = try ServiceLinkConfiguration(configuration)
        let outcome = loop.makePromise(of: Void.self)
        loop.execute {
            var link = ServiceLinkClientConfiguration(service: "storage", node: "operator")
            link.link = settings
            let client = ServiceLinkClient<Void>(
                link, to: .tcp(host: address.host, port: address.port), endOfTurn: .shared(on: loop),
                logger: Logger(label: "operator") { _ in SwiftLogNoOpLogHandler() })
            client.start(delegate: OperatorCall(ban, timeout: timeout, outcome))
        }
        loop.scheduleTask(in: TimeAmount(timeout)) { outcome.fail(ServiceLinkRequestFailure.timedOut) }
        do {
            try outcome.futureResult.wait()
        } catch {
            throw ServiceFailure.unavailable("storage at \(address)", error)
        }
    }
}

extension Ban {
    fileprivate init(_ user: OperatorCommands.Argument, until: UInt64 = 0, endsSession: Bool) {
        self.init(appID: user.app, userID: user.user, untilMilliseconds: until, endsSession: endsSession)
    }
}

/// One request over a link of its own.
private final class OperatorCall: ServiceLinkClientDelegate {
    private let ban: Ban
    private let timeout: Duration
    private let outcome: EventLoopPromise<Void>

    init(_ ban: Ban, timeout: Duration, _ outcome: EventLoopPromise<Void>) {
        self.ban = ban
        self.timeout = timeout
        self.outcome = outcome
    }

    func linkUp(_ link: ServiceLinkClient<Void>, peer: ServiceLinkPeer) {
        do throws(RTMError) {
            try link.request(StorageMethod.ban, ban, timeout: timeout, context: ())
        } catch {
            outcome.fail(error)
        }
    }

    func linkDown(_ link: ServiceLinkClient<Void>, _ reason: ServiceLinkDownReason) {
        outcome.fail(ServiceLinkRequestFailure.disconnected)
    }

    func linkUnreachable(_ link: ServiceLinkClient<Void>, _ reason: ServiceLinkDownReason) {
        outcome.fail(RTMError(.storageNotAvailable, "it can't be reached: \(reason)"))
        link.shutdown()
    }

    func response(_ link: ServiceLinkClient<Void>, _ context: Void, _ outcome: ServiceLinkOutcome) {
        switch outcome {
        case .success: self.outcome.succeed()
        case .failed(let error): self.outcome.fail(error)
        case .timedOut: self.outcome.fail(ServiceLinkRequestFailure.timedOut)
        case .disconnected: self.outcome.fail(ServiceLinkRequestFailure.disconnected)
        }
        link.shutdown()
    }

    func push(_ link: ServiceLinkClient<Void>, method: UInt32, body: UnsafeRawBufferPointer) {}
}
