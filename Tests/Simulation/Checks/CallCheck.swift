import RTMModel

/// Every call completes exactly once (S-0a), and one that is refused for a cause that rules out any effect
/// has none.
struct CallCheck: Check {
    private struct Key: Hashable {
        let device: DeviceID
        let call: Int
    }

    private struct Open {
        let time: Duration
        let call: Call
    }

    /// A publish that ends with one of these was not published, and nobody may ever see it.
    private static let withoutEffect: Set<ErrorCode> = [
        .notLogin, .channelNotConnected, .channelReceiverOffline, .instanceAlreadyReleased,
        .channelPublishMessageTooFrequent, .channelMessageLengthExceedLimitation,
    ]

    private var open: [Key: Open] = [:]
    private var ended: Set<Key> = []
    private var refused: [String: ErrorCode] = [:]
    private var seen: [String: Duration] = [:]
    private var found: [Finding] = []

    mutating func observe(_ entry: HistoryEntry) {
        switch entry.what {
        case .called(let device, let number, let call):
            open[Key(device: device, call: number)] = Open(time: entry.time, call: call)
        case .ended(let device, let number, let outcome):
            end(Key(device: device, call: number), outcome, entry.time)
        case .died(let device):
            for key in open.keys where key.device == device { open[key] = nil }
        case .message(_, _, let message):
            if seen[message.text] == nil { seen[message.text] = entry.time }
        case .broken(let what): found.append(Finding(time: entry.time, text: what))
        default:
            break
        }
    }

    private mutating func end(_ key: Key, _ outcome: Outcome, _ time: Duration) {
        guard let call = open.removeValue(forKey: key) else {
            if ended.contains(key) {
                found.append(Finding(time: time, text: "\(key.device) call \(key.call) ends twice"))
            }
            return
        }
        ended.insert(key)
        guard case .publish(let text, _) = call.call, case .failed(let code) = outcome else { return }
        if Self.withoutEffect.contains(code) { refused[text] = code }
    }

    mutating func findings() -> [Finding] {
        for (key, call) in open {
            found.append(
                Finding(time: call.time, text: "\(key.device) call \(key.call) never ends: \(call.call)"))
        }
        for (text, code) in refused {
            guard let time = seen[text] else { continue }
            found.append(Finding(time: time, text: "\(text) was refused (\(code)) and is delivered"))
        }
        return found
    }
}
