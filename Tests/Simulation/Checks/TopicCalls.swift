import RTMClient
import RTMModel

/// What an app did about the stream channels: where it is in, what it publishes, and whom it receives. Of
/// what failed in the middle nobody knows whether it had its effect.
struct TopicCalls {
    enum Certainty { case no, yes, unknown }

    private struct CallKey: Hashable {
        let device: DeviceID
        let number: Int
    }

    struct Member: Hashable {
        let device: DeviceID
        let room: String
    }

    struct Ear: Hashable {
        let device: DeviceID
        let topic: TopicName
    }

    /// Whom an app learns of a topic.
    struct Subscription {
        /// Since when, of those whose messages have to come.
        var certain: [String: Duration] = [:]
        /// Those whose messages may come.
        var possible: Set<String> = []
        /// By user, the calls under way that ask for him; and those that may choose anybody.
        var asked: [String: Int] = [:]
        var openChoices = 0
        /// Whether one of those has failed in the middle.
        var isDoubtful = false

        func mayReceive(_ user: String) -> Bool {
            openChoices > 0 || isDoubtful || possible.contains(user) || asked[user, default: 0] > 0
        }
    }

    private(set) var connected: Set<DeviceID> = []
    private(set) var rooms: [Member: Certainty] = [:]
    private(set) var published: [Ear: Certainty] = [:]
    private(set) var subscriptions: [Ear: Subscription] = [:]
    private var open: [CallKey: Call] = [:]
    /// Calls under way about one topic of one app. With two at a time nobody knows which had its effect last.
    private var openAbout: [Ear: Int] = [:]
    private var openAboutRoom: [Member: Int] = [:]

    mutating func observe(_ entry: HistoryEntry) {
        switch entry.what {
        case .called(let device, let number, let call): called(device, number, call)
        case .ended(let device, let number, let outcome):
            guard let call = open.removeValue(forKey: CallKey(device: device, number: number)) else { return }
            ended(device, call, outcome, entry.time)
        case .link(let device, .connected, _, let unrestored):
            connected.insert(device)
            // Some of it has ended, or continues behind a gap.
            if !unrestored.isEmpty { doubt(device) }
        case .link(let device, let state, _, _):
            connected.remove(device)
            if state == .idle || state == .failed { forget(device) }
        case .died(let device):
            connected.remove(device)
            forget(device)
        default: break
        }
    }

    // MARK: Calls

    private mutating func called(_ device: DeviceID, _ number: Int, _ call: Call) {
        open[CallKey(device: device, number: number)] = call
        switch call {
        case .join(let room): begin(Member(device: device, room: room))
        case .leave(let room):
            let member = Member(device: device, room: room)
            begin(member)
            rooms[member] = .unknown
            for ear in ears(in: member) { doubt(ear) }
        case .leaveTopic(let topic):
            begin(Ear(device: device, topic: topic))
            doubtPublishing(Ear(device: device, topic: topic))
        case .joinTopic(let topic): begin(Ear(device: device, topic: topic))
        case .subscribeTopic(let topic, let users):
            let ear = Ear(device: device, topic: topic)
            begin(ear)
            for user in users { subscriptions[ear, default: Subscription()].asked[user, default: 0] += 1 }
            if users.isEmpty { subscriptions[ear, default: Subscription()].openChoices += 1 }
        case .unsubscribeTopic(let topic, let users):
            let ear = Ear(device: device, topic: topic)
            begin(ear)
            for user in users { subscriptions[ear]?.certain[user] = nil }
            if users.isEmpty { subscriptions[ear]?.certain = [:] }
        case .logout:
            for ear in Set(subscriptions.keys).union(published.keys) where ear.device == device { doubt(ear) }
            for member in rooms.keys where member.device == device { rooms[member] = .unknown }
        default: break
        }
    }

    private mutating func ended(_ device: DeviceID, _ call: Call, _ outcome: Outcome, _ time: Duration) {
        switch call {
        case .join(let room):
            let member = Member(device: device, room: room)
            let isAlone = end(member)
            // A join that was refused for this reason changes nothing.
            if case .failed(.duplicateOperation) = outcome { return }
            rooms[member] = isAlone && outcome == .done ? .yes : .unknown
        case .leave(let room):
            let member = Member(device: device, room: room)
            guard end(member), outcome == .done || outcome == .failed(.channelNotJoined) else { return }
            rooms[member] = .no
            for ear in ears(in: member) { (subscriptions[ear], published[ear]) = (nil, nil) }
        case .joinTopic(let topic):
            let ear = Ear(device: device, topic: topic)
            let isAlone = end(ear)
            if case .failed(.duplicateOperation) = outcome { return }
            published[ear] = isAlone && outcome == .done && isIn(ear) ? .yes : .unknown
        case .leaveTopic(let topic):
            let ear = Ear(device: device, topic: topic)
            guard end(ear), outcome == .done else { return }
            published[ear] = .no
        case .subscribeTopic(let topic, let users):
            let ear = Ear(device: device, topic: topic)
            let isAlone = end(ear)
            if users.isEmpty { subscriptions[ear]?.openChoices -= 1 }
            for user in users { subscriptions[ear]?.asked[user, default: 1] -= 1 }
            guard case .receives(let received) = outcome else {
                if users.isEmpty { subscriptions[ear]?.isDoubtful = true }
                subscriptions[ear]?.possible.formUnion(users)
                return
            }
            subscriptions[ear]?.possible.formUnion(received)
            guard isIn(ear), isAlone else { return }
            for user in received where subscriptions[ear]?.certain[user] == nil {
                subscriptions[ear, default: Subscription()].certain[user] = time
            }
        case .unsubscribeTopic(let topic, let users):
            let ear = Ear(device: device, topic: topic)
            guard end(ear), outcome == .done else { return doubtHearing(ear) }
            if users.isEmpty {
                subscriptions[ear] = nil
            } else {
                subscriptions[ear]?.possible.subtract(users)
            }
        default: break
        }
    }

    private mutating func begin(_ ear: Ear) { openAbout[ear, default: 0] += 1 }
    private mutating func begin(_ member: Member) { openAboutRoom[member, default: 0] += 1 }

    /// Gives whether nothing else is under way about it.
    private mutating func end(_ ear: Ear) -> Bool {
        openAbout[ear] = max(0, (openAbout[ear] ?? 1) - 1)
        return openAbout[ear] == 0
    }

    private mutating func end(_ member: Member) -> Bool {
        openAboutRoom[member] = max(0, (openAboutRoom[member] ?? 1) - 1)
        return openAboutRoom[member] == 0
    }

    // MARK: What is known

    func isIn(_ ear: Ear) -> Bool { rooms[Member(device: ear.device, room: ear.topic.channel)] == .yes }

    private func ears(in member: Member) -> [Ear] {
        Set(subscriptions.keys).union(published.keys)
            .filter { $0.device == member.device && $0.topic.channel == member.room }
    }

    private mutating func doubt(_ device: DeviceID) {
        for member in rooms.keys where member.device == device { rooms[member] = .unknown }
        for ear in Set(subscriptions.keys).union(published.keys) where ear.device == device { doubt(ear) }
    }

    private mutating func doubt(_ ear: Ear) {
        doubtHearing(ear)
        doubtPublishing(ear)
    }

    private mutating func doubtHearing(_ ear: Ear) { subscriptions[ear]?.certain = [:] }

    private mutating func doubtPublishing(_ ear: Ear) {
        if published[ear] != nil { published[ear] = .unknown }
    }

    private mutating func forget(_ device: DeviceID) {
        for member in rooms.keys where member.device == device { rooms[member] = nil }
        for ear in subscriptions.keys where ear.device == device { subscriptions[ear] = nil }
        for ear in published.keys where ear.device == device { published[ear] = nil }
        for member in openAboutRoom.keys where member.device == device { openAboutRoom[member] = nil }
        for ear in openAbout.keys where ear.device == device { openAbout[ear] = nil }
    }
}
