import Synchronization
import Testing

@testable import RTMServiceKit

@Suite("Lifecycle: starting, ready, draining, stopped")
struct LifecycleStateMachineTests {
    private let now = ContinuousClock.now
    private let deadline: ContinuousClock.Instant
    private var machine = LifecycleStateMachine(shutdownTimeout: .seconds(20))

    init() { deadline = now + .seconds(20) }

    @Test("a start that ends makes it ready, once")
    mutating func ready() {
        #expect(machine.state == .starting)
        let isFirst = machine.started()
        #expect(isFirst)
        #expect(machine.state == .running)
        let isSecond = machine.started()
        #expect(!isSecond)
    }

    @Test("the first signal drains with one deadline for everything and ends with 0")
    mutating func drain() {
        _ = machine.started()
        let action = machine.signalReceived(15, now: now)
        #expect(action == .drain(until: deadline))
        #expect(machine.state == .draining(until: deadline, then: .ok))
        let statuses = [machine.drained(), machine.drained()]
        #expect(statuses == [.ok, .ok])
        #expect(machine.state == .stopped(.ok))
    }

    @Test(
        "a second signal, even after the drain, ends the process at once with 128 and its number",
        arguments: [2, 15])
    func secondSignal(number: Int32) {
        var machine = machine
        _ = machine.started()
        _ = machine.signalReceived(15, now: now)
        let later = now + LifecycleStateMachine.repeatTime
        let whileDraining = machine.signalReceived(number, now: later)
        _ = machine.drained()
        let afterwards = machine.signalReceived(number, now: later)
        #expect(whileDraining == .exitAtOnce(ExitCode(rawValue: 128 + number)))
        #expect(afterwards == whileDraining)
    }

    @Test("the same signal within a second is the same request, another one isn't")
    func repeatedSignal() {
        var machine = machine
        _ = machine.started()
        _ = machine.signalReceived(15, now: now)
        let again = machine.signalReceived(15, now: now + .milliseconds(999))
        #expect(again == .ignore)
        #expect(machine.state == .draining(until: deadline, then: .ok))
        let other = machine.signalReceived(2, now: now + .milliseconds(999))
        #expect(other == .exitAtOnce(ExitCode(rawValue: 130)))
    }

    @Test("a signal during the start drains too, and the end of the start changes nothing")
    mutating func signalWhileStarting() {
        let action = machine.signalReceived(2, now: now)
        #expect(action == .drain(until: deadline))
        let isStarted = machine.started()
        #expect(!isStarted)
        #expect(machine.state == .draining(until: deadline, then: .ok))
    }

    @Test("a failure drains and its class is the exit status; later failures don't change it")
    mutating func failure() {
        let actions = [machine.failed(.unavailable, now: now), machine.failed(.internal, now: now)]
        #expect(actions == [.drain(until: deadline), .note])
        let status = machine.drained()
        #expect(status == .unavailable)
    }

    @Test("a failure while draining by a signal is noted and the exit status stays 0")
    mutating func failureWhileDraining() {
        _ = machine.started()
        _ = machine.signalReceived(15, now: now)
        let action = machine.failed(.internal, now: now)
        #expect(action == .note)
        let status = machine.drained()
        #expect(status == .ok)
    }
}

@Suite("Readiness: every probe must be ready")
struct ReadinessTests {
    private var readiness = Readiness()

    @Test("a new probe is not ready; the process is ready when all are; without probes it is ready")
    mutating func probes() {
        #expect(readiness.isReady)
        let (link, listener) = (readiness.register("link"), readiness.register("listener"))
        #expect(!readiness.isReady)
        _ = readiness.set(.ready, at: link)
        #expect(!readiness.isReady)
        _ = readiness.set(.ready, at: listener)
        #expect(readiness.isReady)
        _ = readiness.set(.notReady("gone"), at: link)
        #expect(!readiness.isReady)
    }

    @Test("while the process ends, what it lets go of is no warning")
    func quietEnd() {
        let lines = ProgramLog()
        let isEnding = Mutex(false)
        let registry = ReadinessRegistry(logger: .writing(to: lines)) { isEnding.withLock { $0 } }
        let probe = registry.probe("link")
        probe.ready()
        probe.notReady("lost")
        #expect(lines.all.last?.contains("\"warning\"") == true)
        probe.ready()
        isEnding.withLock { $0 = true }
        probe.notReady("shut down")
        #expect(lines.all.last?.contains("\"warning\"") != true)
    }

    @Test("only a change between ready and not ready is news; a new cause is kept all the same")
    mutating func news() {
        let link = readiness.register("link")
        let first = readiness.set(.notReady("refused"), at: link)
        #expect(readiness.probes == [.init(name: "link", status: .notReady("refused"))])
        let changes = [
            readiness.set(.ready, at: link), readiness.set(.ready, at: link),
            readiness.set(.notReady("gone"), at: link),
        ]
        #expect(!first)
        #expect(changes == [true, false, true])
    }
}

@Suite("Latch: set once, seen by all")
struct LatchTests {
    @Test("those who wait before and after see the first value")
    func firstWins() async {
        let latch = Latch<Int>()
        async let early = latch.wait()
        latch.resolve(1)
        latch.resolve(2)
        #expect(await early == 1)
        #expect(await latch.wait() == 1)
    }

    @Test("a cancelled wait ends without a value and leaves the others waiting")
    func cancelled() async {
        let latch = Latch<Int>()
        let cancelled = Task { await latch.wait() }
        let patient = Task { await latch.wait() }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        latch.resolve(3)
        #expect(await patient.value == 3)
    }
}
