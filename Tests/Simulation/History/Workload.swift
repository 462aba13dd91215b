import NIOCore
import RTMClient
import RTMModel

@testable import RTMTestKit

/// What the apps do, one small thing after another, as the seed has it.
final class Workload {
    private let installation: Installation
    private let scene: Scene
    let random: RandomStream
    private let channels = ["red", "green", "blue", "black"].map(Place.channel)
    /// Milliseconds between two of them.
    private let pace: Int
    private var lastNumber = 0
    private var isOver = false

    init(_ installation: Installation, _ scene: Scene) {
        self.installation = installation
        self.scene = scene
        random = installation.world.random("workload")
        let isBusy = scene != .presence && installation.gatewayHosts.isEmpty
        pace = isBusy ? random.number(in: 40...400) : random.number(in: 100...1_000)
    }

    func begin() {
        guard !isOver else { return }
        step()
        installation.world.after(random.milliseconds(1...2 * pace)) { self.begin() }
    }

    func end() { isOver = true }

    var devices: [(host: Host, device: Device)] { installation.devices }

    private func step() {
        guard let (_, device) = random.pick(installation.devices), !device.isFrozen else { return }
        switch device.state {
        case .idle, .failed:
            // Who was thrown out comes back after a while.
            if random.chance(1, in: device.state == .failed ? 8 : 2) { device.login() }
        case .connected, .connecting, .disconnected, .suspended:
            guard let channel = random.pick(channels) else { return }
            switch scene {
            case .messages, .nodes, .paths, .absences, .webhooks: act(device, channel)
            case .presence: attend(device, channel)
            case .streams: talk(device)
            }
        }
    }

    private func act(_ device: Device, _ channel: Place) {
        switch random.number(in: 0..<1_000) {
        case ..<180: device.subscribe(to: channel.name)
        case ..<230: device.unsubscribe(from: channel.name)
        case ..<760: for _ in 0..<random.number(in: 1...4) { publish(device, to: channel) }
        case ..<985: for _ in 0..<random.number(in: 1...2) { publish(device, to: .user(anyUser())) }
        case ..<992: device.login()
        default: device.logout()
        }
    }

    private func anyUser() -> String { random.pick(installation.devices)?.device.id.user ?? "" }

    func publish(_ device: Device, to place: Place) {
        device.publish(nextText(of: device), to: place)
    }

    func nextText(of device: Device) -> String {
        lastNumber += 1
        return "\(device.id)-\(lastNumber)"
    }

    /// What everybody is informed of who is where, now that everything has settled.
    func askEverywhere() {
        for (_, device) in installation.devices where device.state == .connected {
            for channel in channels { device.askWhoIsIn(channel.name) }
        }
    }

    /// Something for everybody from everybody, now that everything has settled.
    func publishEverywhere() {
        guard scene != .streams else { return publishTopics() }
        let users = Set(installation.devices.map(\.device.id.user)).sorted()
        for (_, device) in installation.devices where device.state == .connected {
            for place in channels + users.map(Place.user) { publish(device, to: place) }
        }
    }
}

extension RandomStream {
    func number(in range: Range<Int>) -> Int { number(in: range.lowerBound...range.upperBound - 1) }
}
