import RTMClient
import RTMModel

@testable import RTMTestKit

/// What the apps of a history about stream channels do: they join rooms and leave them, publish topics there,
/// and receive some of those who do.
extension Workload {
    private var topics: [TopicName] {
        [("news", "hall"), ("jokes", "hall"), ("news", "attic")].map { TopicName($0, in: $1) }
    }

    func talk(_ device: Device) {
        guard let topic = random.pick(topics) else { return }
        switch random.number(in: 0..<1_000) {
        case ..<200: device.join(topic.channel)
        case ..<210: device.leave(topic.channel)
        case ..<390: device.joinTopic(topic)
        case ..<420: device.leaveTopic(topic)
        case ..<650: device.subscribe(to: topic, users: someUsers())
        case ..<690: device.unsubscribe(from: topic, users: someUsers())
        case ..<980: for _ in 0..<random.number(in: 1...4) { publish(device, to: topic) }
        case ..<990: device.login()
        default: device.logout()
        }
    }

    /// None, which stands for everybody, in some cases.
    private func someUsers() -> [String] {
        guard random.chance(3, in: 4) else { return [] }
        return (1...5).map { "user\($0)" }.filter { _ in random.chance(1, in: 2) }
    }

    private func publish(_ device: Device, to topic: TopicName) {
        device.publish(nextText(of: device), to: topic)
    }

    func publishTopics() {
        for (_, device) in devices where device.state == .connected {
            for topic in topics { publish(device, to: topic) }
        }
    }
}
