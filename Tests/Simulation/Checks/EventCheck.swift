import RTMModel

@testable import RTMTestKit

/// What backends read by pull is everything that happened, once, and counted without a hole (W-40 to W-42),
/// and a message that was published over HTTP is there once, however often it was sent (M-25).
struct EventCheck: Check {
    /// The events of the app, in their order, as the first reader has read them.
    private(set) var events: [EventLine] = []
    private var pages: [Int: [EventLine]] = [:]
    private var cursors: [Int: String] = [:]
    private var publishes: [String: (time: Duration, isAcknowledged: Bool, isRefused: Bool)] = [:]
    private var texts: [DeviceID: [Int: String]] = [:]
    private var conditions: [String: (epoch: UInt64, offset: UInt64)] = [:]
    private var losses: [Duration] = []
    private var newest: UInt64 = 0
    private var found: [Finding] = []

    private static let withoutEffect: Set<ErrorCode> = [
        .notLogin, .channelNotConnected, .channelReceiverOffline, .channelPublishMessageFailed,
    ]

    mutating func observe(_ entry: HistoryEntry) {
        switch entry.what {
        case .called(let device, let number, .publish(let text, let place)) where place.type != .topic:
            texts[device, default: [:]][number] = text
            publishes[text] = (entry.time, false, false)
        case .ended(let device, let number, let outcome):
            guard let text = texts[device]?[number] else { return }
            switch outcome {
            case .published: publishes[text]?.isAcknowledged = true
            case .failed(let code) where device.user == "backend":
                publishes[text]?.isRefused = code == .channelPublishMessageFailed
            default: break
            }
        case .messagingLost: losses.append(entry.time)
        case .backend(let news): observe(news, entry.time)
        default: break
        }
    }

    private mutating func observe(_ news: BackendNews, _ time: Duration) {
        switch news {
        case .polled(let reader, let after, let lines, let next):
            if cursors[reader] != after {
                found.append(Finding(time: time, text: "reader \(reader) continues elsewhere"))
            }
            cursors[reader] = next
            pages[reader, default: []] += lines
        case .conditional(let text, let epoch, let offset): conditions[text] = (epoch, offset)
        case .accepted(let text, let epoch, let offset):
            guard let before = conditions[text], before.epoch != epoch || before.offset >= offset else {
                break
            }
            found.append(
                Finding(time: time, text: "\(text) was to be behind \(before) and is at \(epoch) \(offset)"))
        case .listed(let line, _): newest = max(newest, line.newest)
        default: break
        }
    }

    mutating func findings() -> [Finding] {
        events = pages[0] ?? []
        for (reader, lines) in pages.sorted(by: { $0.key < $1.key }) {
            count(lines, reader)
            if lines != events {
                found.append(Finding(time: .zero, text: "reader \(reader) sees other events than reader 0"))
            }
        }
        var seen: [String: UInt64] = [:]
        for event in events {
            guard let text = event.text else { continue }
            if let other = seen.updateValue(event.offset, forKey: text) {
                found.append(Finding(time: .zero, text: "\(text) is an event twice: \(other), \(event)"))
            }
            guard let publish = publishes[text] else {
                found.append(Finding(time: .zero, text: "nobody published \(text), and it is an event"))
                continue
            }
            if publish.isRefused {
                found.append(Finding(time: publish.time, text: "\(text) was refused, and is an event"))
            }
        }
        judgeLosses(seen)
        return found
    }

    private mutating func count(_ lines: [EventLine], _ reader: Int) {
        var numbers: [String: UInt64] = [:]
        for (index, event) in lines.enumerated() {
            if event.offset != UInt64(index) + 1 {
                found.append(Finding(time: .zero, text: "reader \(reader): \(event) is event \(index + 1)"))
                return
            }
            let number = numbers[event.key, default: 0] + 1
            if event.number != number {
                found.append(Finding(time: .zero, text: "reader \(reader): \(event) should be #\(number)"))
            }
            numbers[event.key] = event.number
        }
        if UInt64(lines.count) != newest {
            found.append(
                Finding(time: .zero, text: "reader \(reader) has \(lines.count) events of \(newest)"))
        }
    }

    private mutating func judgeLosses(_ seen: [String: UInt64]) {
        let gaps = events.filter { $0.type == "gap" }.count
        if gaps > 0, losses.isEmpty {
            found.append(Finding(time: .zero, text: "\(gaps) gaps of events, and nothing was lost"))
        }
        for (text, publish) in publishes where publish.isAcknowledged && seen[text] == nil {
            let isExcused = gaps > 0 && losses.contains { $0 >= publish.time }
            if !isExcused {
                found.append(Finding(time: publish.time, text: "\(text) was accepted, and is no event"))
            }
        }
    }
}
