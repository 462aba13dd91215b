import RTMClient
import RTMModel

@testable import RTMTestKit

/// A subscriber of a topic receives those whom it asked for and nobody else (C-8), all that was
/// acknowledged to them while it heard them, and is informed of a gap only where there is a cause. That a
/// message comes once and in its publisher's order, `OrderCheck` sees.
struct TopicDeliveryCheck: Check {
    /// What is older than this logs don't keep (`MessagingNodeProcess`).
    private static let logAge = Duration.seconds(150)
    /// A subscriber that was away for less than this has missed nothing that logs have given up.
    private static let shortAbsence = Duration.seconds(100)
    /// So long an app may take to notice that it is cut off.
    private static let noticedWithin = Duration.seconds(30)

    private struct Publish {
        let device: DeviceID
        let topic: TopicName
        let text: String
        let calledAt: Duration
        var stamp: (offset: UInt64, timestamp: UInt64)?
    }

    private struct CallKey: Hashable {
        let device: DeviceID
        let number: Int
    }

    private var calls = TopicCalls()
    private var disturbances = Disturbances()
    private var publishes: [Publish] = []
    private var publishOfCall: [CallKey: Int] = [:]
    private var received: [TopicCalls.Ear: Set<String>] = [:]
    private var streams: [TopicCalls.Ear: Stream] = [:]
    private var lastLoss: [DeviceID: Duration] = [:]
    private var freezes: [DeviceID: (from: Duration, to: Duration)] = [:]
    private var messagingLost: [Duration] = []
    private var settled: [TopicCalls.Ear: [String: Duration]] = [:]
    private var found: [Finding] = []

    mutating func observe(_ entry: HistoryEntry) {
        let time = entry.time
        switch entry.what {
        case .called(let device, let number, .publish(let text, let place)):
            guard place.type == .topic, let topic = TopicName(place.name) else { break }
            publishOfCall[CallKey(device: device, number: number)] = publishes.count
            publishes.append(Publish(device: device, topic: topic, text: text, calledAt: time))
        case .ended(let device, let number, .published(let offset, let timestamp)):
            guard let index = publishOfCall[CallKey(device: device, number: number)] else { break }
            publishes[index].stamp = (offset, timestamp)
        case .message(let device, let place, let message) where place.type == .topic:
            guard let topic = TopicName(place.name) else { break }
            receive(message, TopicCalls.Ear(device: device, topic: topic), time)
        case .gap(let device, let place, let seen, let position) where place.type == .topic:
            guard let topic = TopicName(place.name) else { break }
            let ear = TopicCalls.Ear(device: device, topic: topic)
            stream(ear, time, add: .gap(after: seen, until: position))
            judgeGap(ear, position, time)
        case .link(let device, let state, _, _):
            if state != .connected, calls.connected.contains(device) { lose(device, time) }
        case .frozen(let device): freezes[device] = (time, time)
        case .thawed(let device): freezes[device]?.to = time
        case .messagingLost: messagingLost.append(time)
        case .leaving:
            for (ear, subscription) in calls.subscriptions where calls.connected.contains(ear.device) {
                settled[ear] = subscription.certain
            }
        default: break
        }
        calls.observe(entry)
        disturbances.observe(entry)
    }

    /// An app that was frozen notices only afterwards that its connection ended meanwhile.
    private mutating func lose(_ device: DeviceID, _ time: Duration) {
        guard let freeze = freezes[device], time - freeze.to < Self.noticedWithin else {
            lastLoss[device] = time
            return
        }
        lastLoss[device] = freeze.from
    }

    private mutating func stream(_ ear: TopicCalls.Ear, _ time: Duration, add item: Stream.Item) {
        let begun = Stream(ear.device, .topic(ear.topic), begunAt: time, begin: nil)
        streams[ear, default: begun].add(item, at: time)
    }

    private mutating func receive(_ message: Message, _ ear: TopicCalls.Ear, _ time: Duration) {
        received[ear, default: []].insert(message.text)
        stream(ear, time, add: .message(message))
        // Behind the answer to a login messages may come before the app learns that it is connected.
        guard calls.subscriptions[ear]?.mayReceive(message.publisher) != true else { return }
        let text = "\(ear.device) hears \(message) of \(ear.topic.text), and didn't ask for "
        found.append(Finding(time: time, text: text + message.publisher))
    }

    /// A gap has a cause: logs that were lost, or a subscriber or its edge that was away for longer than they
    /// reach back.
    private mutating func judgeGap(
        _ ear: TopicCalls.Ear, _ position: StreamPosition, _ time: Duration
    ) {
        guard messagingLost.isEmpty, disturbances.areAbsent(from: time - Self.logAge, to: time) else {
            return
        }
        if let lost = lastLoss[ear.device], time - lost < .seconds(5) || time - lost > Self.shortAbsence {
            return
        }
        let text = "\(ear.device) is told of a gap in \(ear.topic.text) until \(position), without a cause"
        found.append(Finding(time: time, text: text))
    }

    mutating func findings() -> [Finding] {
        for (ear, certain) in settled {
            let receivedTexts = received[ear] ?? []
            for publish in publishes where publish.topic == ear.topic && !receivedTexts.contains(publish.text)
            {
                let user = publish.device.user
                guard user != ear.device.user, let stamp = publish.stamp, let since = certain[user],
                    publish.calledAt >= since, !isCovered(stamp, publish, ear)
                else { continue }
                let text =
                    "\(publish.text) of \(ear.topic.text) was acknowledged and never reaches \(ear.device)"
                found.append(Finding(time: publish.calledAt, text: text))
            }
        }
        return found
    }

    private func isCovered(
        _ stamp: (offset: UInt64, timestamp: UInt64), _ publish: Publish, _ ear: TopicCalls.Ear
    ) -> Bool {
        streams[ear]?.isCovered(
            stamp, publishedAt: publish.calledAt, logBegan: logBegan,
            isKept: { VirtualWorld.time(of: $0) + Self.logAge > $1 }) ?? false
    }

    private func logBegan(asOf time: Duration) -> UInt64 {
        guard let lost = messagingLost.last(where: { $0 <= time }) else { return 0 }
        return VirtualWorld.startMilliseconds + UInt64(lost / .milliseconds(1))
    }
}
