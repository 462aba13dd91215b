import RTMServiceKit

/// A node of the installation as `GET /v1/nodes` shows it. Counts are since the process began; who wants a
/// rate asks twice. What a node of its kind doesn't have is absent.
struct NodeRow: Encodable, Sendable {
    /// What was refused for one limit.
    struct Refusal: Encodable, Sendable, Equatable {
        /// The metric with the labels that name the limit.
        let limit: String
        let count: UInt64
    }

    /// How much of a bound is used.
    struct Use: Encodable, Sendable, Equatable {
        /// The configuration key of the bound, or "descriptors".
        let limit: String
        let used: UInt64
        let max: UInt64
    }

    /// The address of its admin port; for the gateway that answers, the name of its program.
    let node: String
    /// Why the node could not be asked; everything below is absent then.
    var unreachable: String?
    var program: String?
    var version: String?
    var commit: String?
    /// When the process began, in milliseconds since 1970.
    var since: UInt64?
    var ready: Bool?
    /// What it waits for, each as "probe: cause".
    var notReady: [String]?
    var cpuSeconds: Double?
    var memoryBytes: UInt64?
    var sessions: UInt64?
    var connections: UInt64?
    var messagesIn: UInt64?
    var messagesOut: UInt64?
    var gaps: UInt64?
    /// Bytes that wait for the journal in Redis.
    var journalBacklogBytes: UInt64?
    var refusals: [Refusal]?
    var uses: [Use]?

    init(_ answer: NodeReports.Answer) {
        node = answer.name
        switch answer.outcome {
        case .failure(let failure): unreachable = failure.reason
        case .success(let report): take(report)
        }
    }

    private mutating func take(_ report: NodeReport) {
        (program, version, commit) = (report.program, report.version, report.commit)
        (since, ready, notReady) = (report.since, report.isReady, report.notReady)
        cpuSeconds = report.total("process_cpu_seconds_total")
        memoryBytes = whole(report.total("process_resident_memory_bytes"))
        let has = Set(report.settings.map { $0.key.prefix { $0 != "." } })
        func count(_ service: Substring, _ metric: String, outcome: String? = nil) -> UInt64? {
            has.contains(service) ? whole(report.total(metric, outcome: outcome)) : nil
        }
        sessions = count("edge", "rtm_edge_sessions")
        connections = count("edge", "rtm_edge_connections")
        // In one process with an edge, the messages of its clients are the ones that count.
        messagesIn =
            count("edge", "rtm_edge_publishes_total", outcome: "ok")
            ?? count("messaging", "rtm_messaging_appended_total")
        messagesOut =
            count("edge", "rtm_edge_deliveries_total") ?? count("messaging", "rtm_messaging_pushes_total")
        gaps = count("edge", "rtm_edge_gaps_total") ?? count("messaging", "rtm_messaging_gaps_total")
        journalBacklogBytes = count("messaging", "rtm_messaging_journal_backlog_bytes")
        refusals = Self.refusals(report)
        uses = Self.uses(report)
    }

    private static func refusals(_ report: NodeReport) -> [Refusal] {
        report.figures.compactMap { figure in
            let isOne =
                ["refused_total", "refusals_total", "too_frequent_total"].contains {
                    figure.metric.hasSuffix($0)
                }
                || figure.labels["outcome"] == "refused" || figure.labels["kind"] == "limited"
            // A receiver of webhooks that answers 500 is no refusal of ours.
            guard isOne, !figure.metric.hasPrefix("rtm_gateway_webhook_") else { return nil }
            let words = [figure.metric] + figure.labels.sorted { $0.key < $1.key }.map(\.value)
            return Refusal(limit: words.joined(separator: " "), count: whole(figure.value))
        }
        .sorted { ($1.count, $0.limit) < ($0.count, $1.limit) }
    }

    private static func uses(_ report: NodeReport) -> [Use] {
        let bounds: [(limit: String, used: String, max: Double)] = [
            ("descriptors", "process_open_fds", report.total("process_max_fds")),
            ("edge.connections.max", "rtm_edge_connections", number("edge.connections.max", report)),
            (
                "messaging.channels.max", "rtm_messaging_open_channels",
                number("messaging.channels.max", report)
            ),
            ("presence.channels.max", "rtm_presence_channels", number("presence.channels.max", report)),
            ("storage.bytesMax", "rtm_storage_bytes", report.total("rtm_storage_max_bytes")),
        ]
        return bounds.filter { $0.max > 0 }.map {
            Use(limit: $0.limit, used: whole(report.total($0.used)), max: whole($0.max))
        }
    }

    /// The value of a key that holds a number; 0 if the node doesn't have it.
    private static func number(_ key: String, _ report: NodeReport) -> Double {
        report.settings.first { $0.key == key }?.value.flatMap(Double.init) ?? 0
    }
}

/// A count that another process has reported. It may be anything.
private func whole(_ value: Double) -> UInt64 {
    value > 0 ? UInt64(min(value, 9_007_199_254_740_992)) : 0
}

/// What went wrong lately at some node, as `GET /v1/incidents` shows it.
struct IncidentRow: Encodable, Sendable {
    let node: String
    var program: String?
    /// RFC 3339 in UTC; absent for a node that can't be asked now.
    var time: String?
    /// The level of the line in the log: warning, error or critical.
    let level: String
    let message: String
    /// Whom it is about, such as `app=shop webhook=orders`; absent if the line names nobody.
    var subject: String?
    var cause: String?

    /// The newest lines of all nodes, the newest first. Nodes that can't be asked stand before them.
    static func newest(_ limit: Int, of answers: [NodeReports.Answer]) -> [IncidentRow] {
        var (away, lines) = ([IncidentRow](), [IncidentRow]())
        for answer in answers {
            switch answer.outcome {
            case .failure(let failure):
                away.append(
                    IncidentRow(
                        node: answer.name, level: "error", message: "the node can't be asked",
                        cause: failure.reason))
            case .success(let report):
                lines += report.warnings.map {
                    IncidentRow(
                        node: answer.name, program: report.program, time: $0.time, level: $0.level,
                        message: $0.message, subject: $0.subject, cause: $0.cause)
                }
            }
        }
        // Texts of one format, so they are ordered as the times are.
        lines.sort { ($0.time ?? "") > ($1.time ?? "") }
        return Array((away + lines).prefix(limit))
    }
}

/// A key of the configuration, and which nodes have this value of it, as `GET /v1/configuration` shows it.
/// Nodes of one program with different values make several rows.
struct SettingRow: Encodable, Sendable {
    let key: String
    /// As it is written in a file; absent if the key is not set. A secret is masked.
    var value: String?
    /// Where the value was found: a flag, a variable, a line of a file, or "default".
    let source: String
    let isDefault: Bool
    /// Whether a running program takes over a new value.
    let isLive: Bool
    var nodes: [String]

    /// Ordered by key. Equal values with equal sources are one row.
    static func all(
        of answers: [NodeReports.Answer], prefix: String, onlyChanged: Bool
    ) -> [SettingRow] {
        struct Place: Hashable {
            let key, source: String
            let value: String?
        }
        var rows: [SettingRow] = []
        var places: [Place: Int] = [:]
        for answer in answers {
            guard let report = try? answer.outcome.get() else { continue }
            for setting in report.settings
            where setting.key.hasPrefix(prefix) && !(onlyChanged && setting.isDefault) {
                let place = Place(key: setting.key, source: setting.source, value: setting.value)
                if let row = places[place] {
                    rows[row].nodes.append(answer.name)
                } else {
                    places[place] = rows.count
                    rows.append(SettingRow(setting, of: answer.name))
                }
            }
        }
        return rows.enumerated().sorted { ($0.element.key, $0.offset) < ($1.element.key, $1.offset) }
            .map(\.element)
    }

    private init(_ setting: NodeReport.Setting, of node: String) {
        (key, value, source) = (setting.key, setting.value, setting.source)
        (isDefault, isLive, nodes) = (setting.isDefault, setting.isLive, [node])
    }
}
