import ArgumentParser
import RTMClient

struct PingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping", abstract: "Check whether a server answers. It needs no user and no token.",
        discussion:
            "With several servers, each is asked in turn. The time is that of one heartbeat and its answer.")

    @Option(help: .init("How often to ask.", valueName: "n"))
    var count = 1

    @Option(
        help: .init("Time between two questions.", valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var interval: Duration = .seconds(1)

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if count < 1 { throw ValidationError("--count must be 1 or more") }
    }

    func run() async throws {
        try await common.run {
            let output = common.output
            let settings = try common.settings()
            var summary = PingSummary()
            for turn in 0..<count {
                if turn > 0 { try await Task.sleep(for: interval) }
                for server in settings.servers {
                    let outcome = try await output.announcing("waiting for an answer of \(server)") {
                        try await RTMClient.probe(
                            server, tls: settings.encryption, timeout: common.loginTimeout)
                    }
                    let reply = try outcome.reply()
                    summary.add(reply.roundTrip)
                    try await output.result(
                        reply.sentence(from: server), "ping", reply.json(from: server))
                }
            }
            try await output.result(summary.sentence, "result", summary.json)
        }
    }
}

extension ProbeOutcome {
    /// - Throws: why there was no answer, with what to do about it.
    func reply() throws(RTMError) -> PingReply {
        switch self {
        case .answered(let reply): return reply
        case .failed(var error, let failure):
            error.reason += failure?.hint ?? ""
            throw error
        }
    }
}

/// What several round trips have in common.
struct PingSummary: Sendable {
    private(set) var count = 0
    private(set) var minimum = Duration.zero
    private(set) var maximum = Duration.zero
    private var sum = Duration.zero

    var average: Duration { count == 0 ? .zero : sum / count }

    mutating func add(_ roundTrip: Duration) {
        minimum = count == 0 ? roundTrip : min(minimum, roundTrip)
        maximum = max(maximum, roundTrip)
        sum += roundTrip
        count += 1
    }

    var sentence: String {
        let times = [minimum, average, maximum].map { $0.milliseconds.text(decimals: 3) }
        return "\(count) answered, min/avg/max \(times.joined(separator: "/")) ms"
    }

    var json: JSON {
        [
            "result": "ok", "count": .number(count),
            "minMilliseconds": .number(minimum.milliseconds, decimals: 3),
            "avgMilliseconds": .number(average.milliseconds, decimals: 3),
            "maxMilliseconds": .number(maximum.milliseconds, decimals: 3),
        ]
    }
}

extension PingReply {
    fileprivate func sentence(from address: ServerAddress) -> String {
        "\(address): \(roundTrip.milliseconds.text(decimals: 3)) ms (\(server), protocol \(protocolVersion))"
            .visible
    }

    fileprivate func json(from address: ServerAddress) -> JSON {
        [
            "address": .string(address.description),
            "milliseconds": .number(roundTrip.milliseconds, decimals: 3),
            "server": .string(server), "protocolVersion": .number(protocolVersion),
            "timestamp": .number(serverTimeMilliseconds), "time": .time(serverTimeMilliseconds),
        ]
    }
}
