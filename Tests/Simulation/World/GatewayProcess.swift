import Logging
import NIOCore
import RTMModel
import RTMServiceKit
import RTMWebhookCall
import RTMWire

@testable import RTMGatewayServer
@testable import RTMServiceLink
@testable import RTMTestKit

/// One life of a gateway without HTTP: its real links to the other services, and what it does about its
/// webhooks (`WebhookDelivery`). Requests of backends and to receivers are carried by the world.
final class GatewayProcess {
    struct Services {
        let messaging: [Host]
        let receivers: [Receiver]
        let settings: WebhookQueue.Settings
        /// How long an answer of a receiver may take.
        let timeout: TimeAmount
    }

    private struct Hook {
        var delivery: WebhookDelivery
        let receiver: Receiver
        var keeps = 0
    }

    let host: Host
    /// Its name among all lives of all gateways.
    let name: String
    private let loop: ProcessLoop
    private let calls: GatewayCalls
    private let network: SimulatedNetwork
    private let journal: HistoryLog
    private let timeout: TimeAmount
    private var random: RandomStream
    private var hooks: [Hook]
    private var finished: (() -> Void)?
    private(set) var isDead = false

    init(
        _ host: Host, life: Int, _ services: Services, in network: SimulatedNetwork, random: RandomStream,
        journal: HistoryLog
    ) {
        (self.host, self.network, self.random, self.journal) = (host, network, random, journal)
        let name = "\(host)/\(life)"
        (self.name, timeout) = (name, services.timeout)
        loop = ProcessLoop(network.world.loop)
        let readiness = ReadinessRegistry(logger: .silent)
        calls = GatewayCalls(
            to: GatewayCalls.Addresses(
                messaging: services.messaging.map { network.address(of: $0) },
                presence: [network.address(of: PresenceProcess.host)],
                storage: [network.address(of: StorageProcess.host)]),
            network.link(random, from: host), node: name,
            probes: GatewayCalls.Probes(
                messaging: readiness.probe("messaging"), presence: readiness.probe("presence"),
                storage: readiness.probe("storage")),
            banned: GatewayBans(), endOfTurn: EndOfTurn(eventLoop: loop), logger: .silent)
        hooks = services.receivers.compactMap { receiver in
            WebhookDelivery(receiver.record, node: name, services.settings)
                .map { Hook(delivery: $0, receiver: receiver) }
        }
        calls.start()
        for index in hooks.indices { act(index) }
    }

    /// The process is gone. What is on its way to receivers may still arrive there.
    func kill(silently: Bool) {
        guard !isDead else { return }
        isDead = true
        network.kill(host, silently: silently)
        loop.die()
        calls.shutdown()
    }

    /// It stands still: nothing is read, and no timer fires.
    func pause() {
        network.pause(host)
        loop.pause()
    }

    func resume() {
        guard !isDead else { return }
        network.resume(host)
        loop.resume()
    }

    /// Gives its webhooks up, as before an update.
    func stop(_ finished: @escaping () -> Void) {
        self.finished = finished
        inLoop { gateway in
            for index in gateway.hooks.indices { gateway.step(index) { $0.stop() } }
        }
    }

    // MARK: Requests of backends

    /// Has a request carried out, after its way to the gateway.
    ///
    /// - Parameter answer: never called if the gateway dies, and late if it stands still.
    func ask<Value: Sendable>(
        _ request: @escaping (GatewayCalls, @escaping GatewayCalls.Answer<Value>) -> Void,
        _ answer: @escaping (Result<Value, RTMError>) -> Void
    ) {
        let answer = NIOLoopBound(answer, eventLoop: network.world.loop)
        network.world.after(random.milliseconds(1...30)) { [self] in
            inLoop { gateway in
                request(gateway.calls) { result in answer.value(result) }
            }
        }
    }

    /// Does it at once, or when the process continues. A dead one does nothing.
    private func inLoop(_ task: @escaping (GatewayProcess) -> Void) {
        let bound = NIOLoopBound((self, task), eventLoop: network.world.loop)
        loop.execute { bound.value.1(bound.value.0) }
    }

    // MARK: Webhooks

    private var now: WebhookTime {
        WebhookTime(uptime: loop.now, milliseconds: network.world.utcMilliseconds)
    }

    private func step(_ index: Int, _ happen: (inout WebhookDelivery) -> Void) {
        happen(&hooks[index].delivery)
        act(index)
        if hooks.allSatisfy(\.delivery.isFinished), let finished = finished.take() { finished() }
    }

    private func act(_ index: Int) {
        for action in hooks[index].delivery.actions(now: now, using: &random) { perform(action, index) }
        guard let alarm = hooks[index].delivery.nextAlarm(now: now) else { return }
        let bound = NIOLoopBound(self, eventLoop: network.world.loop)
        loop.scheduleTask(deadline: max(alarm, loop.now + .milliseconds(1))) {
            if bound.value.hooks[index].delivery.rang(alarm) { bound.value.act(index) }
        }
    }

    private func perform(_ action: WebhookDelivery.Action, _ index: Int) {
        let bound = NIOLoopBound(self, eventLoop: network.world.loop)
        switch action {
        case .claim(let request):
            calls.ask(StorageMethod.claimReader, request) { bound.value.claimed($0, index) }
        case .read(let request, let term):
            calls.ask(StorageMethod.events, request) { page in
                bound.value.step(index) {
                    $0.received(try? page.get(), term: term, now: bound.value.now)
                }
            }
        case .deliver(let request, let term): deliver(request, term, index)
        case .keep(let request, let term):
            hooks[index].keeps += 1
            let keep = Keep(
                gateway: name, webhook: request.name, term: term, number: hooks[index].keeps)
            journal.record(
                .backend(.keeps(keep, request.position.offset, request.letters.map(\.position.offset))))
            calls.ask(StorageMethod.keepReader, request) { kept in
                let isKept = try? kept.get().isKept
                bound.value.journal.record(.backend(.kept(keep, isKept)))
                bound.value.step(index) { $0.kept(isKept, term: term, now: bound.value.now) }
            }
        }
    }

    private func claimed(_ outcome: Result<ReaderClaimed, RTMError>, _ index: Int) {
        let claimed = try? outcome.get()
        if let claimed, claimed.term > 0 {
            let webhook = hooks[index].delivery.record.name
            journal.record(.backend(.claimed(name, webhook, term: claimed.term, claimed.position.offset)))
        }
        step(index) { $0.claimed(claimed, now: now) }
    }

    private func deliver(_ request: WebhookRequest, _ term: UInt64, _ index: Int) {
        let bound = NIOLoopBound(self, eventLoop: network.world.loop)
        let record = hooks[index].delivery.record
        let answered: @Sendable (WebhookAnswer) -> Void = { answer in
            let gateway = bound.value
            gateway.step(index) {
                $0.answered(request.id, answer, term: term, now: gateway.now, using: &gateway.random)
            }
        }
        let loop = loop
        loop.scheduleTask(in: timeout) { answered(WebhookAnswer(outcome: .noAnswer("deadline exceeded"))) }
        hooks[index].receiver.post(request.body(app: record.app, webhook: record.name)) { answer in
            loop.execute { answered(answer) }
        }
    }
}
