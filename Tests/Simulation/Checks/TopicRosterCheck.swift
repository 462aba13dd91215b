import RTMClient
import RTMModel

/// Who has joined a stream channel knows in the end who publishes which topics there, and nobody is listed
/// who has gone (C-11 to C-13).
struct TopicRosterCheck: Check {
    private var calls = TopicCalls()
    /// By topic, who publishes it, as the app was told; none before its first snapshot.
    private var reported: [TopicCalls.Member: [String: Set<String>]] = [:]
    private var found: [Finding] = []

    mutating func observe(_ entry: HistoryEntry) {
        calls.observe(entry)
        switch entry.what {
        case .topic(let device, let room, let change):
            receive(change, TopicCalls.Member(device: device, room: room), entry.time)
        case .link(let device, .idle, _, _), .link(let device, .failed, _, _), .died(let device):
            for member in reported.keys where member.device == device { reported[member] = nil }
        case .leaving: settled(entry.time)
        default: break
        }
    }

    mutating func findings() -> [Finding] { found }

    private mutating func receive(_ change: TopicEvent.Change, _ member: TopicCalls.Member, _ time: Duration)
    {
        switch change {
        case .snapshot(let topics):
            reported[member] = Dictionary(
                uniqueKeysWithValues: topics.map { ($0.name, Set($0.publishers.map(\.userID))) })
        case .joined(let topic, let publisher):
            reported[member]?[topic, default: []].insert(publisher.userID)
        case .left(let topic, let publisher):
            if reported[member]?[topic]?.contains(publisher.userID) == false {
                let text = "\(member.device) is told that \(publisher.userID) leaves \(member.room)/\(topic)"
                found.append(Finding(time: time, text: text + ", and doesn't have him there"))
            }
            reported[member]?[topic]?.remove(publisher.userID)
        }
    }

    /// Two minutes after everything was healed nothing has an excuse any more.
    private mutating func settled(_ time: Duration) {
        for (member, certainty) in calls.rooms
        where certainty == .yes && calls.connected.contains(member.device) {
            guard let roster = reported[member] else {
                found.append(
                    Finding(time: time, text: "\(member.device) is never told of topics of \(member.room)"))
                continue
            }
            for topic in Set(calls.published.keys.map(\.topic)) where topic.channel == member.room {
                compare(roster[topic.topic] ?? [], topic, member, time)
            }
        }
    }

    private mutating func compare(
        _ listed: Set<String>, _ topic: TopicName, _ member: TopicCalls.Member, _ time: Duration
    ) {
        // An app is told nothing of what its own user does.
        let others = calls.published.filter { ear, _ in
            ear.topic == topic && ear.device.user != member.device.user
        }
        let unknown = others.filter { $0.value == .unknown }.map(\.key.device.user)
        let present = others.filter { $0.value == .yes && calls.connected.contains($0.key.device) }
            .map(\.key.device.user)
        for user in Set(present).subtracting(listed).subtracting(unknown).sorted() {
            let text = "\(member.device) doesn't have \(user) in \(topic.text), who publishes there"
            found.append(Finding(time: time, text: text))
        }
        let gone = listed.subtracting(present).subtracting(unknown).subtracting([member.device.user])
        for user in gone.sorted() {
            let text = "\(member.device) has \(user) in \(topic.text), who doesn't publish there"
            found.append(Finding(time: time, text: text))
        }
    }
}
