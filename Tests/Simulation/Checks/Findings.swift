import NIOCore
import RTMModel

@testable import RTMGatewayServer

/// What is wrong with a history, in the words of whoever reads the failure.
struct Finding: CustomStringConvertible {
    let time: Duration
    let text: String

    var description: String { "\(text) (at \(time))" }
}

/// A promise, held against what apps did and saw (architecture.md, section 6). It receives every entry of the
/// journal in order, and afterwards says what was broken.
protocol Check {
    mutating func observe(_ entry: HistoryEntry)
    /// To be called once, after the last entry.
    mutating func findings() -> [Finding]
}

enum Checks {
    /// All that a history breaks, in the order in which it did.
    ///
    /// - Parameters:
    ///   - presenceTimeout: that of all apps; nil where there is no presence service.
    ///   - isOneAtATime: whether logs may never be lost.
    ///   - backend: nil where there are no gateways.
    static func judge(
        _ entries: [HistoryEntry], _ scene: Scene, presenceTimeout: Duration?, isOneAtATime: Bool = false,
        backend: Installation.Size.Backend? = nil
    ) -> [Finding] {
        var checks: [any Check] = [
            CallCheck(), OrderCheck(), DeliveryCheck(hasPresence: presenceTimeout != nil), SessionCheck(),
            ResumeCheck(),
        ]
        if scene == .streams { checks += [TopicRosterCheck(), TopicDeliveryCheck()] }
        if scene == .presence, let presenceTimeout {
            checks += [PresenceCheck(timeout: presenceTimeout), MoodOrderCheck()]
        }
        if isOneAtATime { checks.append(LossCheck()) }
        if let backend {
            let selections = backend.webhooks.map { record in
                WebhookCheck.Selection(
                    name: record.name, types: Set(record.types.map { [$0] } ?? []),
                    prefix: record.channels ?? "")
            }
            let giveUpAfter = Duration(backend.settings.giveUpAfter)
            checks += [EventCheck(), WebhookCheck(selections, giveUpAfter: giveUpAfter)]
        }
        for entry in entries {
            for index in checks.indices { checks[index].observe(entry) }
        }
        var findings: [Finding] = []
        for index in checks.indices { findings += checks[index].findings() }
        return findings.sorted { $0.time < $1.time }
    }
}

/// Where only one thing fails at a time, no log is ever lost.
struct LossCheck: Check {
    private var found: [Finding] = []

    mutating func observe(_ entry: HistoryEntry) {
        guard case .messagingLost = entry.what else { return }
        found.append(Finding(time: entry.time, text: "logs are lost, and only one thing has failed"))
    }

    mutating func findings() -> [Finding] { found }
}
