import RTMClient
import RTMModel

@testable import RTMTestKit

/// An acknowledged message reaches every subscriber that is connected or comes back in time, and what a
/// subscriber doesn't get it is informed of: no hole without a gap, no gap without a cause, nothing that
/// wasn't subscribed.
struct DeliveryCheck: Check {
    /// What is older than this logs don't keep (`MessagingNodeProcess`).
    private static let logAge = Duration.seconds(150)
    /// So long an app may take to notice that it is cut off.
    private static let noticedWithin = Duration.seconds(30)
    /// Then entries of logs may be events of presence, which nobody here sees.
    private let hasPresence: Bool
    private var disturbances = Disturbances()

    private struct Publish {
        let text: String
        let device: DeviceID
        let place: Place
        let calledAt: Duration
        var stamp: (offset: UInt64, timestamp: UInt64)?
        var isRefused = false
    }

    private struct Key: Hashable {
        let device: DeviceID
        let place: Place
    }

    private struct CallKey: Hashable {
        let device: DeviceID
        let number: Int
    }

    private var publishes: [Publish] = []
    /// Where messages lie that somebody has received.
    private var seen: [String: (offset: UInt64, timestamp: UInt64)] = [:]
    private var publishOfCall: [CallKey: Int] = [:]
    private var channelOfCall: [CallKey: (channel: String, isSubscribe: Bool, time: Duration)] = [:]
    private var streams: [Key: Stream] = [:]
    private var past: [Stream] = []
    /// Subscribes and unsubscribes under way, by channel: what comes meanwhile is nobody's fault.
    private var unsettled: [Key: Int] = [:]
    private var connected: Set<DeviceID> = []
    /// Of the apps that are away, since when; and of all, when they last went.
    private var lostAt: [DeviceID: Duration] = [:]
    private var lastLoss: [DeviceID: Duration] = [:]
    private var absences: [DeviceID: [(from: Duration, to: Duration)]] = [:]
    private var frozenAt: [DeviceID: Duration] = [:]
    private var messagingLost: [Duration] = []
    private var found: [Finding] = []
    /// The streams that were running when everything had settled.
    private var settled: [Stream]?

    init(hasPresence: Bool) { self.hasPresence = hasPresence }

    mutating func observe(_ entry: HistoryEntry) {
        let time = entry.time
        disturbances.observe(entry)
        switch entry.what {
        case .called(let device, let number, let call): called(device, number, call, time)
        case .ended(let device, let number, let outcome):
            ended(CallKey(device: device, number: number), outcome, time)
        // What is said of topics, `TopicDeliveryCheck` judges.
        case .message(_, let place, _) where place.type == .topic: break
        case .gap(_, let place, _, _) where place.type == .topic: break
        case .message(let device, let place, let message):
            seen[message.text] = (message.offset, message.timestamp)
            arrived(.message(message), Key(device: device, place: place), time)
        case .gap(let device, let place, let seen, let position):
            arrived(.gap(after: seen, until: position), Key(device: device, place: place), time)
        case .link(let device, let state, _, let channels):
            link(device, state, time)
            for channel in channels { unrestored(Key(device: device, place: .channel(channel)), time) }
        case .died(let device): endAll(of: device, time)
        case .frozen(let device): frozenAt[device] = time
        case .thawed(let device):
            guard let frozen = frozenAt.removeValue(forKey: device) else { break }
            absences[device, default: []].append((frozen - Self.noticedWithin, time))
        case .messagingLost: messagingLost.append(time)
        case .leaving:
            settled = streams.values.filter { unsettled[Key(device: $0.device, place: $0.place)] == nil }
        case .edgeEnded, .fault, .broken, .backend, .healed, .disturbed, .calm, .presence, .topic, .resumed:
            break
        }
    }

    // MARK: Calls

    private mutating func called(_ device: DeviceID, _ number: Int, _ call: Call, _ time: Duration) {
        let key = CallKey(device: device, number: number)
        switch call {
        case .publish(let text, let place):
            publishOfCall[key] = publishes.count
            publishes.append(Publish(text: text, device: device, place: place, calledAt: time))
        case .subscribe(let channel, _):
            channelOfCall[key] = (channel, true, time)
            unsettled[Key(device: device, place: .channel(channel)), default: 0] += 1
        case .unsubscribe(let channel):
            channelOfCall[key] = (channel, false, time)
            unsettled[Key(device: device, place: .channel(channel)), default: 0] += 1
        case .logout:
            endAll(of: device, time)
        case .login, .setState, .removeState, .whoNow, .join, .leave, .joinTopic, .leaveTopic,
            .subscribeTopic, .unsubscribeTopic:
            break
        }
    }

    private mutating func ended(_ call: CallKey, _ outcome: Outcome, _ time: Duration) {
        if let index = publishOfCall[call] {
            switch outcome {
            case .published(let offset, let timestamp): publishes[index].stamp = (offset, timestamp)
            case .failed(.notLogin), .failed(.channelNotConnected), .failed(.channelReceiverOffline):
                publishes[index].isRefused = true
            default: break
            }
        }
        guard let (channel, isSubscribe, asked) = channelOfCall[call] else { return }
        let key = Key(device: call.device, place: .channel(channel))
        let open = (unsettled[key] ?? 1) - 1
        unsettled[key] = open > 0 ? open : nil
        switch outcome {
        case .subscribed(let position) where streams[key] == nil:
            streams[key] = Stream(
                key.device, key.place, begunAt: time, askedAt: asked, begin: position)
        case .done where !isSubscribe: end(key, time)
        // What has failed in the middle may have had its effect or not.
        case .failed(let code) where !isSubscribe && code != .notLogin && code != .channelNotSubscribed:
            end(key, time)
        default: break
        }
    }

    // MARK: Links

    private mutating func link(_ device: DeviceID, _ state: LinkState, _ time: Duration) {
        switch state {
        case .connected:
            connected.insert(device)
            if let lost = lostAt.removeValue(forKey: device) {
                absences[device, default: []].append((lost - Self.noticedWithin, time))
            }
            let inbox = Key(device: device, place: .user(device.user))
            if streams[inbox] == nil {
                streams[inbox] = Stream(device, inbox.place, begunAt: time, begin: nil)
            }
        case .idle, .failed:
            connected.remove(device)
            lostAt[device] = nil
            endAll(of: device, time)
        case .disconnected, .connecting, .suspended:
            guard connected.remove(device) != nil else { return }
            lostAt[device] = time
            lastLoss[device] = time
        }
    }

    /// Either the subscription continues behind a gap that was just said, or it has ended.
    private mutating func unrestored(_ key: Key, _ time: Duration) {
        guard let stream = streams[key], let lost = lastLoss[key.device] else { return }
        if stream.gaps.last.map({ $0 < lost }) ?? true { end(key, time) }
    }

    private mutating func end(_ key: Key, _ time: Duration) {
        guard var stream = streams.removeValue(forKey: key) else { return }
        stream.endedAt = time
        past.append(stream)
    }

    private mutating func endAll(of device: DeviceID, _ time: Duration) {
        for key in streams.keys.sorted(by: { $0.place < $1.place }) where key.device == device {
            end(key, time)
        }
        for key in unsettled.keys where key.device == device { unsettled[key] = nil }
    }

    private mutating func arrived(_ item: Stream.Item, _ key: Key, _ time: Duration) {
        if streams[key] != nil {
            streams[key]?.add(item, at: time)
        } else if unsettled[key] == nil, case .message(let message) = item, !isReturning(key.device) {
            let text = "\(key.device) receives \(message) of \(key.place), which it isn't subscribed to"
            found.append(Finding(time: time, text: text))
        }
    }

    /// Behind the answer to a login messages may come before the app learns that it is connected.
    private func isReturning(_ device: DeviceID) -> Bool { !connected.contains(device) }

    // MARK: Judgement

    mutating func findings() -> [Finding] {
        for stream in past + streams.values {
            found += unexplainedHoles(in: stream)
            found += causelessGaps(in: stream)
        }
        for stream in settled ?? [] { found += missing(in: stream) }
        return found
    }

    /// Own messages aren't delivered (M-21), so their offsets are passed over, and so are those of other
    /// channels. What somebody published or saw at an offset between is missing.
    private func unexplainedHoles(in stream: Stream) -> [Finding] {
        stream.holes(logBegan: logBegan).compactMap { hole in
            known(at: stream.place, hole)
                .first { $0.device.user != stream.device.user || isInbox(stream) }
                .map { other in
                    let text =
                        "\(stream.device) is not given \(other.text) of \(stream.place), and not told so"
                    return Finding(time: hole.time, text: text)
                }
        }
    }

    private func logBegan(asOf time: Duration) -> UInt64 {
        guard let lost = messagingLost.last(where: { $0 <= time }) else { return 0 }
        return VirtualWorld.startMilliseconds + UInt64(lost / .milliseconds(1))
    }

    /// Whether logs still had at a time what was published at another one.
    private func isKept(_ timestamp: UInt64, at time: Duration) -> Bool {
        VirtualWorld.time(of: timestamp) + Self.logAge > time
    }

    private func isInbox(_ stream: Stream) -> Bool { stream.place.type == .user }

    private func known(at place: Place, _ hole: Stream.Hole) -> [Publish] {
        publishes.filter { publish in
            guard publish.place == place, let stamp = publish.stamp ?? seen[publish.text] else {
                return false
            }
            return hole.offsets.contains(stamp.offset) && stamp.timestamp > hole.after
                && stamp.timestamp < hole.before
        }
    }

    private func causelessGaps(in stream: Stream) -> [Finding] {
        let causes = messagingLost
        let gaps = stream.items.filter { time, item in
            guard case .gap(let seen, let position) = item else { return false }
            guard seen?.epoch == position.epoch else { return true }
            return !isTooOld(stream, from: seen?.offset ?? 0, to: position.offset, time)
        }
        guard let last = gaps.last?.time else { return [] }
        // A subscription may have begun on a log that was lost while the answer was on its way.
        let begin = stream.askedAt - .seconds(30)
        let count = causes.count { $0 >= begin && $0 <= last }
        guard gaps.count > count else { return [] }
        let text =
            "\(stream.device) is told of \(gaps.count) gaps in \(stream.place), and \(count) have a cause"
        return [Finding(time: last, text: text)]
    }

    /// Whether something between the offsets was published for the app longer ago than logs reach back, at a
    /// time when it could not be delivered: the app was away, or its edge heard nothing of messaging. Of a
    /// publish without an answer nobody knows where it lies. Of the events of presence nothing is known here.
    private func isTooOld(_ stream: Stream, from: UInt64, to: UInt64, _ time: Duration) -> Bool {
        if hasPresence, !isInbox(stream) { return true }
        return publishes.contains { publish in
            guard publish.place == stream.place, !publish.isRefused,
                isInbox(stream) || publish.device.user != stream.device.user
            else { return false }
            if let stamp = publish.stamp, stamp.offset <= from || stamp.offset > to { return false }
            let at = publish.stamp.map { VirtualWorld.time(of: $0.timestamp) } ?? publish.calledAt
            guard at + Self.logAge <= time else { return false }
            let isAway = (absences[stream.device] ?? []).contains { $0.from <= at && at <= $0.to }
            return isAway || !disturbances.areAbsent(from: at, to: at + .seconds(5))
        }
    }

    private func missing(in stream: Stream) -> [Finding] {
        let texts = stream.texts
        return publishes.compactMap { publish in
            guard publish.place == stream.place, let stamp = publish.stamp,
                publish.calledAt >= stream.begunAt,
                isInbox(stream) || publish.device.user != stream.device.user, !texts.contains(publish.text),
                !stream.isCovered(
                    stamp, publishedAt: publish.calledAt, logBegan: logBegan, isKept: isKept)
            else { return nil }
            let text =
                "\(publish.text) was acknowledged and never reaches \(stream.device) in \(stream.place)"
            return Finding(time: publish.calledAt, text: text)
        }
    }
}
