import RTMClient
import RTMModel

@testable import RTMTestKit

/// What the apps of a history about presence do: they come into channels and go, visibly or not, look at each
/// other or don't, and show how they feel.
extension Workload {
    func attend(_ device: Device, _ channel: Place) {
        switch random.number(in: 0..<1_000) {
        case ..<340: device.subscribe(to: channel.name, features())
        case ..<440: device.unsubscribe(from: channel.name)
        case ..<580: device.setState("\(random.number(in: 1...99))", in: channel.name)
        case ..<610: device.setState(nil, in: channel.name)
        case ..<710: device.askWhoIsIn(channel.name)
        case ..<965: publish(device, to: channel)
        case ..<970: device.login()
        default: device.logout()
        }
    }

    private func features() -> SubscriptionFeatures {
        switch random.number(in: 0..<10) {
        case ..<7: [.message, .presence]
        case 7: [.message]
        case 8: [.message, .presence, .quiet]
        default: [.message, .quiet]
        }
    }
}
