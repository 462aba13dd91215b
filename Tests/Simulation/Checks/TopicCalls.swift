import RTMClient
import RTMModel

/// What an app did about the stream channels: where it is in, what it publishes, and whom it hears. Of what
/// failed in the middle nobody knows whether it had its effect.
struct TopicCalls {
    enum Certainty { case no, yes, unknown }

    private struct CallKey: Hashable {
        let device: DeviceID
        let number: Int
    }

    struct Seat: Hashable {
        let device: DeviceID
        let room: String
    }

    struct Ear: Hashable {
        let device: DeviceID
        let topic: TopicName
    }

    /// Whom an app hears of a topic.
    struct Hearing {
        /// Since when, of those whose messages have to come.
        var certain: [String: Duration] = [:]
        /// Those whose messages may come.
        var possible: Set<String> = []
        /// By user, the calls under way that ask for him; and those that may choose anybody.
        var asked: [String: Int] = [:]
        var openChoices = 0
        /// Whether one of those has failed in the middle.
        var isDoubtful = false

        func mayHear(_ user: String) -> Bool {
            openChoices > 0 || isDoubtful || possible.contains(user) || asked[user, default: 0] > 0
        }
    }

    private(set) var connected: Set<DeviceID> = []
    private(set) var rooms: [Seat: Certainty] = [:]
    private(set) var published: [Ear: Certainty] = [:]
    private(set) var hearings: [Ear: Hearing] = [:]
    private var open: [CallKey: Call] = [:]
    /// Calls under way about one topic of one app. With two at a time nobody knows which had its effect last.
    private var openAbout: [Ear: Int] = [:]
    private var openAboutRoom: [Seat: Int] = [:]

    mutating func observe(_ entry: Entry) {
        switch entry.what {
        case .called(let device, let number, let call): called(device, number, call)
        case .ended(let device, let number, let outcome):
            guard let call = open.removeValue(forKey: CallKey(device: device, number: number)) else { return }
            ended(device, call, outcome, entry.time)
        case .link(let device, .connected, _, let unrestored):
            connected.insert(device)
            // Some of it has ended, or goes on behind a gap.
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
        case .join(let room): begin(Seat(device: device, room: room))
        case .leave(let room):
            let seat = Seat(device: device, room: room)
            begin(seat)
            rooms[seat] = .unknown
            for ear in ears(in: seat) { doubt(ear) }
        case .leaveTopic(let topic):
            begin(Ear(device: device, topic: topic))
            doubtPublishing(Ear(device: device, topic: topic))
        case .joinTopic(let topic): begin(Ear(device: device, topic: topic))
        case .subscribeTopic(let topic, let users):
            let ear = Ear(device: device, topic: topic)
            begin(ear)
            for user in users { hearings[ear, default: Hearing()].asked[user, default: 0] += 1 }
            if users.isEmpty { hearings[ear, default: Hearing()].openChoices += 1 }
        case .unsubscribeTopic(let topic, let users):
            let ear = Ear(device: device, topic: topic)
            begin(ear)
            for user in users { hearings[ear]?.certain[user] = nil }
            if users.isEmpty { hearings[ear]?.certain = [:] }
        case .logout:
            for ear in Set(hearings.keys).union(published.keys) where ear.device == device { doubt(ear) }
            for seat in rooms.keys where seat.device == device { rooms[seat] = .unknown }
        default: break
        }
    }

    private mutating func ended(_ device: DeviceID, _ call: Call, _ outcome: Outcome, _ time: Duration) {
        switch call {
        case .join(let room):
            let seat = Seat(device: device, room: room)
            let isAlone = end(seat)
            // A join that was refused for this reason changes nothing.
            if case .failed(.duplicateOperation) = outcome { return }
            rooms[seat] = isAlone && outcome == .done ? .yes : .unknown
        case .leave(let room):
            let seat = Seat(device: device, room: room)
            guard end(seat), outcome == .done || outcome == .failed(.channelNotJoined) else { return }
            rooms[seat] = .no
            for ear in ears(in: seat) { (hearings[ear], published[ear]) = (nil, nil) }
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
            if users.isEmpty { hearings[ear]?.openChoices -= 1 }
            for user in users { hearings[ear]?.asked[user, default: 1] -= 1 }
            guard case .hears(let heard) = outcome else {
                if users.isEmpty { hearings[ear]?.isDoubtful = true }
                hearings[ear]?.possible.formUnion(users)
                return
            }
            hearings[ear]?.possible.formUnion(heard)
            guard isIn(ear), isAlone else { return }
            for user in heard where hearings[ear]?.certain[user] == nil {
                hearings[ear, default: Hearing()].certain[user] = time
            }
        case .unsubscribeTopic(let topic, let users):
            let ear = Ear(device: device, topic: topic)
            guard end(ear), outcome == .done else { return doubtHearing(ear) }
            if users.isEmpty { hearings[ear] = nil } else { hearings[ear]?.possible.subtract(users) }
        default: break
        }
    }

    private mutating func begin(_ ear: Ear) { openAbout[ear, default: 0] += 1 }
    private mutating func begin(_ seat: Seat) { openAboutRoom[seat, default: 0] += 1 }

    /// Gives whether nothing else is under way about it.
    private mutating func end(_ ear: Ear) -> Bool {
        openAbout[ear] = max(0, (openAbout[ear] ?? 1) - 1)
        return openAbout[ear] == 0
    }

    private mutating func end(_ seat: Seat) -> Bool {
        openAboutRoom[seat] = max(0, (openAboutRoom[seat] ?? 1) - 1)
        return openAboutRoom[seat] == 0
    }

    // MARK: What is known

    func isIn(_ ear: Ear) -> Bool { rooms[Seat(device: ear.device, room: ear.topic.channel)] == .yes }

    private func ears(in seat: Seat) -> [Ear] {
        Set(hearings.keys).union(published.keys)
            .filter { $0.device == seat.device && $0.topic.channel == seat.room }
    }

    private mutating func doubt(_ device: DeviceID) {
        for seat in rooms.keys where seat.device == device { rooms[seat] = .unknown }
        for ear in Set(hearings.keys).union(published.keys) where ear.device == device { doubt(ear) }
    }

    private mutating func doubt(_ ear: Ear) {
        doubtHearing(ear)
        doubtPublishing(ear)
    }

    private mutating func doubtHearing(_ ear: Ear) { hearings[ear]?.certain = [:] }

    private mutating func doubtPublishing(_ ear: Ear) {
        if published[ear] != nil { published[ear] = .unknown }
    }

    private mutating func forget(_ device: DeviceID) {
        for seat in rooms.keys where seat.device == device { rooms[seat] = nil }
        for ear in hearings.keys where ear.device == device { hearings[ear] = nil }
        for ear in published.keys where ear.device == device { published[ear] = nil }
        for seat in openAboutRoom.keys where seat.device == device { openAboutRoom[seat] = nil }
        for ear in openAbout.keys where ear.device == device { openAbout[ear] = nil }
    }
}
