import Logging
import NIOCore
import NIOPosix
import RTMConfigurationFile
import RTMTestSupport
import Testing

@testable import RTMServiceKit

@Suite("A program asks its own admin port whether it is ready")
struct ProbeTests {
    private let address = HostPort(host: "127.0.0.1", port: 7791)

    private func answer(_ body: String, status: Int = 503) -> ProbeAnswer {
        ProbeAnswer("rtm-relay", at: address, status: status, body: body.utf8)
    }

    @Test("ready is ready, whatever is missing that isn't required")
    func ready() {
        let page = answer(
            #"{"ready":true,"state":"running","probes":[{"name":"depot","ready":false,"required":false}]}"#,
            status: 200)
        #expect(page.isReady)
        #expect(page.sentence == "rtm-relay is ready.")
    }

    @Test("what isn't ready is named with its cause, and only if it is required")
    func causes() {
        let page = answer(
            #"{"ready":false,"state":"running","probes":[{"name":"a","ready":false,"cause":"no link"},"#
                + #"{"name":"b","ready":true},{"name":"c","ready":false,"required":false,"cause":"away"},"#
                + #"{"name":"d","ready":false,"cause":"no road"}]}"#)
        #expect(!page.isReady)
        #expect(page.sentence == "rtm-relay is not ready: a: no link; d: no road.")
    }

    @Test("a program that begins or ends says so")
    func states() {
        let end = answer(
            #"{"ready":false,"state":"draining","probes":[{"name":"a","ready":false,"cause":"no link"}]}"#)
        #expect(end.sentence == "rtm-relay is not ready: it is draining.")
        let start = answer(#"{"ready":false,"state":"starting","probes":[]}"#)
        #expect(start.sentence == "rtm-relay is not ready: it is starting.")
        let waiting = answer(
            #"{"ready":false,"state":"starting","probes":[{"name":"a","ready":false,"cause":"not started"}]}"#
        )
        #expect(waiting.sentence == "rtm-relay is not ready: a: not started.")
    }

    @Test("whoever else listens there is not taken for the program", arguments: ["", "hello", "{}", "[1]"])
    func foreignAnswers(_ body: String) {
        let page = answer(body, status: 200)
        #expect(!page.isReady)
        #expect(page.sentence.hasPrefix("rtm-relay is not what listens at 127.0.0.1:7791: "))
        #expect(page.sentence.contains("status 200"))
    }

    @Test("over a socket: ready, not ready, and gone", arguments: ["127.0.0.1", "0.0.0.0"])
    func socket(_ host: String) async throws {
        let readiness = ReadinessRegistry(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let probe = readiness.probe("relay link")
        let configuration = try RelayKeys.load([])
        let pages = AdminPages(
            program: "rtm-relay", configuration: { configuration }, metrics: MetricsRegistry(),
            state: { .running }, readiness: { readiness.snapshot }, others: AdminPageRegistry(),
            started: NodeStart(milliseconds: 0))
        let server = AdminServer(
            address: HostPort(host: host, port: 0), pages: pages,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await server.start()
        let port = try #require(server.address).port
        let address = HostPort(host: host, port: port)
        func ask() async -> String { await AdminClient.probe("rtm-relay", at: address).sentence }

        probe.notReady("no \"road\"")
        #expect(await ask() == "rtm-relay is not ready: relay link: no \"road\".")
        probe.ready()
        #expect(await ask() == "rtm-relay is ready.")
        await server.stop()
        #expect(await ask() == "rtm-relay does not answer at \(address): Connection refused.")
    }

    @Test("who accepts and says nothing is not ready")
    func silence() async throws {
        let mute = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let address = HostPort(host: "127.0.0.1", port: try #require(mute.localAddress?.port))
        let answer = await AdminClient.probe("rtm-relay", at: address, within: .milliseconds(50))
        #expect(answer.sentence == "rtm-relay does not answer at \(address): nothing came within 50 ms.")
        try await mute.close()
    }

    @Test("--probe asks where the configuration says that the admin port is")
    func decision() {
        let program = ServiceProgram(
            ServiceDefinition(name: "relay", summary: "", keys: RelayKeys.all) { _ in Assembly([]) },
            admin: address)
        func probed(_ arguments: [String], _ environment: [String: String]) -> HostPort? {
            let decision = StartDecision(
                program, arguments: arguments, environment: environment, parse: FileNode.yaml,
                readFile: { _ in "" })
            guard case .probe(let address) = decision else { return nil }
            return address
        }
        #expect(probed(["--probe"], [:]) == address)
        #expect(
            probed(["--probe"], ["RTM_RELAY_ADMIN": "[::1]:9"]) == HostPort(host: "::1", port: 9))
        #expect(probed(["--probe", "--depth", "0"], [:]) == nil)
    }
}
