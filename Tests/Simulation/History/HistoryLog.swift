// What apps did and what they saw: all that the checks may judge by. They know nothing of how any of it came
// about.

import RTMClient
import RTMModel

@testable import RTMTestKit

/// One app on one device: a user may have several.
struct DeviceID: Hashable, Comparable, CustomStringConvertible {
    let number: Int
    let user: String

    var description: String { "\(user)/\(number)" }

    static func < (left: DeviceID, right: DeviceID) -> Bool { left.number < right.number }
}

/// Where a message goes and where it is seen: a message channel, a topic, or a user.
struct Place: Hashable, Comparable, CustomStringConvertible {
    let type: ChannelType
    let name: String

    init(_ type: ChannelType, _ name: String) {
        self.type = type
        self.name = name
    }

    static func channel(_ name: String) -> Place { Place(.message, name) }
    static func user(_ name: String) -> Place { Place(.user, name) }
    static func topic(_ name: TopicName) -> Place { Place(.topic, name.text) }

    var description: String { type == .user ? "@\(name)" : "#\(name)" }

    static func < (left: Place, right: Place) -> Bool { left.description < right.description }
}

struct Message: Hashable, CustomStringConvertible {
    /// Unique in a history.
    let text: String
    let publisher: String
    let offset: UInt64
    let timestamp: UInt64
    /// The place among those with the same timestamp.
    let order: UInt32

    var description: String { "\(text) at \(offset)" }
}

enum Call: Hashable {
    case login, logout
    case subscribe(String, SubscriptionFeatures)
    case unsubscribe(String)
    case publish(String, Place)
    case setState(String, String)
    case removeState(String)
    case whoNow(String)
    case join(String)
    case leave(String)
    case joinTopic(TopicName)
    case leaveTopic(TopicName)
    /// No users stand for all.
    case subscribeTopic(TopicName, [String])
    case unsubscribeTopic(TopicName, [String])
}

enum Outcome: Hashable {
    case done
    case subscribed(StreamPosition)
    case published(offset: UInt64, timestamp: UInt64)
    case online([UserState])
    /// Whose messages are delivered.
    case receives([String])
    case failed(ErrorCode)
}

enum Observation {
    case called(DeviceID, Int, Call)
    case ended(DeviceID, Int, Outcome)
    case message(DeviceID, Place, Message)
    case gap(DeviceID, Place, lastSeen: StreamPosition?, continuesAfter: StreamPosition)
    case presence(DeviceID, String, PresenceEvent.Change, timestamp: UInt64)
    /// Of a stream channel.
    case topic(DeviceID, String, TopicEvent.Change)
    case link(DeviceID, LinkState, LinkStateReason, unrestored: [String])
    /// The change before said that nothing is missing (S-17).
    case resumed(DeviceID)
    /// The app was killed; what it waited for never comes.
    case died(DeviceID)
    /// The app stands still until the `thawed` that follows: it reads nothing, and no timer fires.
    case frozen(DeviceID)
    case thawed(DeviceID)
    /// All that messaging knew is gone.
    case messagingLost
    /// An edge is killed, or has sent everybody away.
    case edgeEnded(String)
    /// Services don't learn of each other as they should, until the `calm` of the same number.
    case disturbed(Int, String)
    case calm(Int)
    /// Something else that was done to the installation.
    case fault(String)
    /// Something that must never be, whatever happens.
    case broken(String)
    /// What backends, receivers and gateways did and saw.
    case backend(BackendNews)
    /// From here on nothing is done to the installation; a little later everything has settled.
    case healed
    /// Everybody is about to log out.
    case leaving
}

struct HistoryEntry {
    /// Since the beginning.
    let time: Duration
    let what: Observation
}

final class HistoryLog {
    private let world: VirtualWorld
    private(set) var entries: [HistoryEntry] = []
    /// FNV-1a over the lines: two runs with the same hash saw the same.
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    init(_ world: VirtualWorld) { self.world = world }

    func record(_ what: Observation) {
        let entry = HistoryEntry(time: world.elapsed, what: what)
        entries.append(entry)
        for byte in "\(entry)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}

extension HistoryEntry: CustomStringConvertible {
    var description: String {
        let milliseconds = Int(time / .milliseconds(1))
        let fraction = String(milliseconds % 1_000)
        let zeros = String(repeating: "0", count: 3 - fraction.count)
        return "\(milliseconds / 1_000).\(zeros)\(fraction) \(what)"
    }
}

extension Observation: CustomStringConvertible {
    var description: String {
        switch self {
        case .called(let device, let number, let call): "\(device) call \(number): \(call)"
        case .ended(let device, let number, let outcome): "\(device) call \(number) ends: \(outcome)"
        case .message(let device, let place, let message): "\(device) receives \(place) \(message)"
        case .gap(let device, let place, let seen, let position):
            "\(device) gap in \(place) after \(seen.map { "\($0)" } ?? "nothing") until \(position)"
        case .presence(let device, let channel, let change, let timestamp):
            "\(device) is told in #\(channel) as of \(timestamp - VirtualWorld.startMilliseconds): \(change)"
        case .topic(let device, let channel, let change):
            "\(device) is told of topics of #\(channel): \(change)"
        case .disturbed(let number, let what): "disturbance \(number): \(what)"
        case .calm(let number): "disturbance \(number) is over"
        case .link(let device, let state, let reason, let unrestored):
            "\(device) is \(state) (\(reason))" + (unrestored.isEmpty ? "" : ", without \(unrestored)")
        case .resumed(let device): "\(device) is resumed"
        case .died(let device): "\(device) is killed"
        case .frozen(let device): "\(device) is frozen"
        case .thawed(let device): "\(device) is thawed"
        case .messagingLost: "messaging is killed"
        case .edgeEnded(let what), .fault(let what): what
        case .broken(let what): "broken: \(what)"
        case .backend(let news): "\(news)"
        case .healed: "everything is healed"
        case .leaving: "everybody leaves"
        }
    }
}
