import NIOCore
import RTMModel
import RTMProtocol
import SwiftProtobuf

@testable import RTMClient
@testable import RTMTestKit

/// One life of an app: a real client, whose calls and events go into the journal.
final class Device {
    let id: DeviceID
    private let process: ProcessLoop
    private let link: Link
    private let hub: EventHub
    private let network: SimulatedNetwork
    private let requestIDs = RequestIDs()
    private let journal: NIOLoopBound<HistoryLog>
    private var calls = 0
    private(set) var isDead = false
    private(set) var isFrozen = false

    init(
        _ id: DeviceID, host: Host, edges: [Host], _ size: Installation.Size,
        in network: SimulatedNetwork,
        random: RandomStream, journal: HistoryLog
    ) {
        self.id = id
        self.network = network
        self.journal = NIOLoopBound(journal, eventLoop: network.world.loop)
        let world = NIOLoopBound(network.world, eventLoop: network.world.loop)
        var configuration = RTMClient.Configuration(
            servers: edges.map { ServerAddress(host: $0.description) }, appID: "app", userID: id.user)
        if size.hasSecondPaths { configuration.secondPath = .otherServer }
        if let presence = size.presence {
            configuration.presenceTimeout = presence.timeout
            configuration.heartbeatInterval = presence.heartbeat
        }
        let process = ProcessLoop(network.world.loop)
        self.process = process
        hub = EventHub()
        hub.add(JournalSink(device: id, journal: self.journal))
        link = Link(
            configuration, dialer: SimulatedDialer(network, from: host, on: process), hub: hub,
            requestIDs: requestIDs, eventLoop: process,
            clock: LinkClock(
                now: { world.value.instant }, utcMilliseconds: { Int64(world.value.utcMilliseconds) }),
            random: random)
    }

    var state: LinkState { hub.linkState }

    /// The app is killed: nobody learns of its calls any more, and nothing is said to anybody.
    func kill(_ host: Host) {
        isDead = true
        network.kill(host, silently: false)
        journal.value.record(.died(id))
        link.close(nil)
        if isFrozen { process.die() }
    }

    /// The system lets the app stand still, as phones do with an app in the background. Its connections stay.
    func freeze(_ host: Host) {
        guard !isDead, !isFrozen else { return }
        isFrozen = true
        journal.value.record(.frozen(id))
        network.pause(host)
        process.pause()
    }

    func thaw(_ host: Host) {
        guard !isDead, isFrozen else { return }
        isFrozen = false
        journal.value.record(.thawed(id))
        network.resume(host)
        process.resume()
    }

    // MARK: Calls

    func login() { start(.login, .login) { $0.calls.login(token: nil, $1) } }

    func logout() { start(.logout, .logout) { $0.calls.logout($1) } }

    func subscribe(to channel: String, _ features: SubscriptionFeatures = .message) {
        let completion: Completion<SubscriptionConfirmation> = begin(
            .subscribe(channel, features), .subscribe
        ) {
            .subscribed($0.position)
        }
        link.subscriptions.subscribe(to: .message(channel), features: features, completion)
    }

    func unsubscribe(from channel: String) {
        start(.unsubscribe(channel), .unsubscribe) {
            $0.subscriptions.unsubscribe(from: .message(channel), $1)
        }
    }

    func publish(_ text: String, to place: Place) {
        let destination: MessageDestination =
            place.type == .user ? .user(place.name) : .channel(place.name)
        publish(text, place, destination) { $0.messages.publish($1, $2) }
    }

    func publish(_ text: String, to topic: TopicName) {
        publish(text, .topic(topic), .topic(topic.topic, in: topic.channel)) {
            $0.streams.publish($1, to: topic, $2)
        }
    }

    private func publish(
        _ text: String, _ place: Place, _ destination: MessageDestination,
        _ perform: (Link, OutgoingMessage, Completion<PublishReceipt>) -> Void
    ) {
        let message = OutgoingMessage(
            payload: .text(text), destination: destination, customType: "", storeInHistory: false)
        let completion: Completion<PublishReceipt> = begin(.publish(text, place), .publish) {
            .published(offset: $0.offset, timestamp: $0.timestampMilliseconds)
        }
        perform(link, message, completion)
    }

    /// Shows one state to the channel, or takes all back.
    func setState(_ value: String?, in channel: String) {
        let place = ChannelID(type: .message, name: channel)
        guard let value else {
            return start(.removeState(channel), .removeState) { $0.ownStates.remove([], in: place, $1) }
        }
        start(.setState(channel, value), .setState) { $0.ownStates.set(["mood": value], in: place, $1) }
    }

    func askWhoIsIn(_ channel: String) {
        let completion: Completion<[UserState]> = begin(.whoNow(channel), .whoNow) { .online($0) }
        let request = Rtm_Client_WhoNow.with {
            $0.channelType = .message
            $0.channel = channel
            $0.includeUserID = true
            $0.includeState = true
        }
        link.requests.call(completion, .whoNow(request)) { body in
            guard case .onlineUsers(let answer) = body else { return nil }
            return answer.users.map(UserState.init)
        }
    }

    // MARK: Stream channels

    /// As `RTMClient.join` does it: the membership, then who publishes the topics.
    func join(_ channel: String) {
        let done: Completion<Void> = begin(.join(channel), .join) { .done }
        let link = NIOLoopBound(self.link, eventLoop: network.world.loop)
        let follow = Completion<SubscriptionConfirmation>(id: requestIDs.next(), operation: .join) { result in
            guard case .failure(let error) = result else { return done.succeed() }
            let leave = Completion<Void>(id: link.value.requests.nextID(), operation: .leave) { _ in }
            link.value.streams.leave(channel, leave)
            done.fail(error)
        }
        let join = Completion<SubscriptionConfirmation>(id: requestIDs.next(), operation: .join) { result in
            guard case .failure(let error) = result else {
                return link.value.streams.followTopics(of: channel, follow)
            }
            done.fail(error)
        }
        link.value.streams.join(channel, token: "", features: .presence, join)
    }

    func leave(_ channel: String) { start(.leave(channel), .leave) { $0.streams.leave(channel, $1) } }

    func joinTopic(_ topic: TopicName) {
        start(.joinTopic(topic), .joinTopic) { $0.streams.joinTopic(topic, meta: "", priority: .normal, $1) }
    }

    func leaveTopic(_ topic: TopicName) {
        start(.leaveTopic(topic), .leaveTopic) { $0.streams.leaveTopic(topic, $1) }
    }

    func subscribe(to topic: TopicName, users: [String]) {
        let completion: Completion<TopicAnswer> = begin(
            .subscribeTopic(topic, users), .subscribeTopic
        ) { .receives((users.isEmpty ? $0.deliveredUsers : users).sorted()) }
        link.streams.subscribe(to: topic, users: users, completion)
    }

    func unsubscribe(from topic: TopicName, users: [String]) {
        start(.unsubscribeTopic(topic, users), .unsubscribeTopic) {
            $0.streams.unsubscribe(from: topic, users: users, $1)
        }
    }

    private func start(
        _ call: Call, _ operation: Operation, _ perform: (Link, Completion<Void>) -> Void
    ) {
        perform(link, begin(call, operation) { .done })
    }

    private func begin<Value>(
        _ call: Call, _ operation: Operation, _ outcome: @escaping @Sendable (Value) -> Outcome
    ) -> Completion<Value> {
        calls += 1
        let (id, number, journal) = (id, calls, journal)
        journal.value.record(.called(id, number, call))
        return Completion(id: requestIDs.next(), operation: operation) { result in
            switch result {
            case .success(let value): journal.value.record(.ended(id, number, outcome(value)))
            case .failure(let error): journal.value.record(.ended(id, number, .failed(error.code)))
            }
        }
    }
}

/// Writes down what an app receives.
private struct JournalSink: EventSink {
    let device: DeviceID
    let journal: NIOLoopBound<HistoryLog>

    func append(_ event: RTMEvent) {
        switch event {
        case .message(let message):
            guard case .text(let text) = message.payload else { return }
            journal.value.record(
                .message(
                    device, Place(message),
                    Message(
                        text: text, publisher: message.publisher, offset: message.offset,
                        timestamp: message.timestampMilliseconds, order: message.order)))
        case .gap(let gap):
            journal.value.record(
                .gap(
                    device, Place(gap.channelType, gap.channelName), lastSeen: gap.lastSeen,
                    continuesAfter: gap.continuesAfter))
        case .linkState(let change):
            journal.value.record(
                .link(device, change.currentState, change.reasonCode, unrestored: change.unrestoredChannels))
            if change.isResumed { journal.value.record(.resumed(device)) }
        case .topic(let topic):
            journal.value.record(.topic(device, topic.channelName, topic.change))
        case .presence(let presence)
        where presence.channelType == .message && presence.change != .outage(.notAskedFor):
            journal.value.record(
                .presence(
                    device, presence.channelName, presence.change,
                    timestamp: presence.timestampMilliseconds))
        default:
            break
        }
    }

    func finish() {}
}

extension Place {
    fileprivate init(_ message: MessageEvent) {
        self =
            message.topic.isEmpty
            ? Place(message.channelType, message.channelName)
            : .topic(TopicName(message.topic, in: message.channelName))
    }
}

/// Opens connections in the simulated network.
private struct SimulatedDialer: Dialing {
    private let network: SimulatedNetwork
    private let host: Host
    private let process: ProcessLoop

    init(_ network: SimulatedNetwork, from host: Host, on process: ProcessLoop) {
        self.network = network
        self.host = host
        self.process = process
    }

    func dial(
        _ server: ServerAddress, over interface: String?, for receiver: any FrameReceiver
    ) -> ServerConnection {
        let handler = ServerConnection(eventLoop: process, receiver: receiver)
        let loop = network.world.loop
        network.connect(from: host, to: Host(server.host), timeout: .seconds(10)) { result in
            do {
                try SocketHandler.attach(handler, to: result.get(), on: loop)
            } catch {
                handler.connectFailed("\(error)", (error as? ConnectFailure)?.ofClient)
            }
        }
        return handler
    }
}
