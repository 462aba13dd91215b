import AgoraRtmKit
import Foundation
import RTMClient
import RTMTestSupport
import Synchronization

/// One of many clients of a system under stress: it publishes, and records everything that it sees.
protocol ChaosClient: Sendable {
    var user: String { get }
    var isConnected: Bool { get }
    /// What it has seen, by channel; the name of its inbox is "@" and its user id, that of a topic
    /// "ROOM/TOPIC".
    var views: [DeliveryRecord.View] { get }
    /// Events that must not happen to a client, as sentences.
    var complaints: [String] { get }
    /// The states of its link, each with its time and reason.
    var journey: [String] { get }

    /// Logs in, subscribes to the channels, and joins the topics among them as a publisher.
    func start(channels: [String]) async throws
    /// Subscribes to these users in every topic.
    func receive(_ users: [String]) async throws
    func publish(_ text: String, to channel: String) async -> DeliveryRecord.Outcome
    func close() async
}

extension ChaosClient {
    /// Whether this text has arrived.
    func hasSeen(_ text: String, in channel: String) -> Bool {
        views.contains { view in
            view.channel == channel
                && view.sightings.reversed().contains { sighting in
                    if case .message(text, _, _, _) = sighting { true } else { false }
                }
        }
    }
}

/// What a client has seen, recorded as it comes.
private final class Sightings: Sendable {
    private struct Contents {
        var byChannel: [String: [DeliveryRecord.Sighting]] = [:]
        /// Stream channels of which events were lost, and no message.
        var roomsWithGap: Set<String> = []
        var complaints: [String] = []
        var journey: [String] = []
    }

    private let contents = Mutex(Contents())

    func note(_ sighting: DeliveryRecord.Sighting, in channel: String) {
        contents.withLock { $0.byChannel[channel, default: []].append(sighting) }
    }

    func hasGap(in channel: String) -> Bool {
        contents.withLock {
            $0.byChannel[channel]?.contains(.gap) == true || $0.roomsWithGap.contains(channel)
        }
    }

    func noteGap(inRoom room: String) {
        contents.withLock { _ = $0.roomsWithGap.insert(room) }
    }

    func note(_ state: LinkState, _ reason: String) {
        let time = Date().formatted(.iso8601.time(includingFractionalSeconds: true))
        contents.withLock { $0.journey.append("\(time) \(state) (\(reason))") }
    }

    var journey: [String] { contents.withLock { $0.journey } }

    func complain(_ text: String) { contents.withLock { $0.complaints.append(text) } }

    var complaints: [String] { contents.withLock { $0.complaints } }

    func views(of viewer: String, isInformedOfGaps: Bool) -> [DeliveryRecord.View] {
        contents.withLock(\.byChannel).map {
            DeliveryRecord.View(
                viewer: viewer, channel: $0.key, isInformedOfGaps: isInformedOfGaps, sightings: $0.value)
        }
    }

    /// A channel that stays silent has a view, too.
    func expect(_ channels: [String]) {
        contents.withLock { contents in
            for channel in channels { contents.byChannel[channel] = [] }
        }
    }
}

private func destination(of channel: String) -> MessageDestination {
    if let topic = TopicName(channel) { return .topic(topic.topic, in: topic.channel) }
    return channel.hasPrefix("@") ? .user(String(channel.dropFirst())) : .channel(channel)
}

/// A client of the modern API.
final class ChaosRTMClient: ChaosClient {
    private let client: RTMClient
    private let sightings = Sightings()

    init(_ client: RTMClient) { self.client = client }

    var user: String { client.configuration.userID }
    var isConnected: Bool { client.linkState == .connected }
    var views: [DeliveryRecord.View] { sightings.views(of: user, isInformedOfGaps: true) }
    var complaints: [String] { sightings.complaints.map { "\(user): \($0)" } }
    var journey: [String] { sightings.journey }

    func start(channels: [String]) async throws {
        sightings.expect(channels + ["@\(user)"])
        let events = client.events(buffering: .dropOldest(capacity: 1_000_000))
        // Unstructured: it ends with the sequence, which ends when the client is closed.
        Task { [sightings] in
            for await event in events { Self.note(event, in: sightings) }
        }
        try await client.login()
        for channel in channels {
            if let topic = TopicName(channel) {
                try await client.join(topic.channel).joinTopic(topic.topic)
            } else {
                try await client.subscribe(to: channel, features: .message)
            }
        }
    }

    func receive(_ users: [String]) async throws {
        let others = Set(users).subtracting([user])
        for topic in views.compactMap({ TopicName($0.channel) }) {
            let received = try await client.streamChannel(topic.channel)
                .subscribe(to: topic.topic, users: others.sorted())
            if Set(received.deliveredUsers) != others {
                sightings.complain("not heard: \(received.undeliveredUsers)")
            }
        }
    }

    private static func note(_ event: RTMEvent, in sightings: Sightings) {
        switch event {
        case .message(let message):
            let prefix = message.channelType == .user ? "@" : ""
            guard case .text(let text) = message.payload else { return sightings.complain("bytes") }
            sightings.note(
                .message(
                    text: text, publisher: message.publisher, timestamp: message.timestampMilliseconds,
                    order: message.order),
                in: prefix + message.channelName + (message.topic.isEmpty ? "" : "/\(message.topic)"))
        case .undecryptable(let event): sightings.complain("can't be decrypted: \(event)")
        case .gap(let gap) where gap.channelType == .stream || gap.channelType == .topics:
            sightings.noteGap(inRoom: gap.channelName)
        case .gap(let gap):
            sightings.note(.gap, in: (gap.channelType == .user ? "@" : "") + gap.channelName)
        case .linkState(let change):
            sightings.note(change.currentState, "\(change.reason)")
            if change.currentState == .failed { sightings.complain("failed: \(change.reason)") }
            for channel in change.unrestoredChannels where !sightings.hasGap(in: channel) {
                sightings.complain("\(channel) was not restored: \(change.reason)")
            }
        case .overflow(let dropped): sightings.complain("\(dropped) events dropped")
        default: break
        }
    }

    func publish(_ text: String, to channel: String) async -> DeliveryRecord.Outcome {
        do {
            let receipt = try await client.publish(text, to: destination(of: channel))
            return .acknowledged(timestamp: receipt.timestampMilliseconds)
        } catch {
            return .init(error.code)
        }
    }

    func close() async { await client.close() }
}

/// A client of the compatible API, which isn't told of gaps and whose receipts have no timestamp.
final class ChaosKitClient: NSObject, ChaosClient, AgoraRtmClientDelegate {
    let user: String
    private let kit = Mutex<AgoraRtmClientKit?>(nil)
    private let state = Mutex<AgoraRtmLinkState>(.idle)
    private let sightings = Sightings()

    init(_ config: AgoraRtmClientConfig) throws {
        user = config.userId
        super.init()
        let kit = try AgoraRtmClientKit(config, delegate: self)
        self.kit.withLock { $0 = kit }
    }

    var isConnected: Bool { state.withLock { $0 } == .connected }
    var views: [DeliveryRecord.View] { sightings.views(of: user, isInformedOfGaps: false) }
    var complaints: [String] { sightings.complaints.map { "\(user): \($0)" } }
    var journey: [String] { sightings.journey }

    func start(channels: [String]) async throws {
        sightings.expect(channels + ["@\(user)"])
        guard let kit = kit.withLock({ $0 }) else { return }
        if let error = await kit.login(nil).1 { throw error }
        let options = AgoraRtmSubscribeOptions()
        options.features = .message
        for channel in channels {
            if let error = await kit.subscribe(channelName: channel, option: options).1 { throw error }
        }
    }

    /// It is in no topic.
    func receive(_ users: [String]) async throws {}

    func publish(_ text: String, to channel: String) async -> DeliveryRecord.Outcome {
        guard let kit = kit.withLock({ $0 }) else { return .refused }
        let options = AgoraRtmPublishOptions()
        if channel.hasPrefix("@") { options.channelType = .user }
        let name = channel.hasPrefix("@") ? String(channel.dropFirst()) : channel
        let (response, error) = await kit.publish(channelName: name, message: text, option: options)
        if (response == nil) == (error == nil) { sightings.complain("completion with \(text) is unclear") }
        return error.map { .init(ErrorCode(rawValue: $0.errorCode.rawValue) ?? .notInitialized) }
            ?? .acknowledged(timestamp: nil)
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
        let prefix = event.channelType == .user ? "@" : ""
        let sighting = DeliveryRecord.Sighting.message(
            text: event.message.stringData ?? "bytes", publisher: event.publisher, timestamp: event.timestamp)
        sightings.note(sighting, in: prefix + event.channelName)
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent) {
        state.withLock { $0 = event.currentState }
        sightings.note(LinkState(rawValue: event.currentState.rawValue) ?? .idle, event.reason ?? "")
        if event.currentState == .failed { sightings.complain("failed: \(event.reason ?? "")") }
    }

    func close() async {
        if let kit = kit.withLock({ $0.take() }) { kit.destroy() }
    }
}

extension DeliveryRecord.Outcome {
    init(_ code: ErrorCode) {
        switch code {
        case .channelNotConnected, .notLogin, .channelReceiverOffline: self = .refused
        default: self = .unknown
        }
    }
}
