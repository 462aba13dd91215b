import Logging
import NIOCore
import RTMModel
import RTMServiceKit
import RTMTestSupport
import Synchronization
import Testing

@testable import RTMEdgeServer

@Suite("One line for each login, refusal and end of a session")
struct SessionLogTests {
    private let lines = Shared<[String]>([])

    private var logger: Logger {
        Logger(label: "edge") { label in
            JSONLogHandler(
                label: label, now: { "now" }, write: { [lines] line in lines.withLock { $0.append(line) } })
        }
    }

    private func refuse(_ log: SessionLog, user: String, at now: NIODeadline) {
        log.refused(
            RTMError(.invalidToken, "the signature is wrong"), app: "dev", user: user, from: "10.0.0.7",
            now: now)
    }

    @Test("a refusal says who, from where and why, and what a client sent is cut")
    func refused() throws {
        let log = SessionLog(logger, EdgeMetrics(MetricsRegistry()), wallClock: { 0 })
        refuse(log, user: String(repeating: "x", count: 4_000), at: .uptimeNanoseconds(1))
        let line = try #require(lines.present.first)
        #expect(line.contains("\"message\":\"login refused\""))
        #expect(line.contains("\"code\":-10005") && line.contains("\"address\":\"10.0.0.7\""))
        #expect(line.utf8.count < 500)
    }

    @Test("a flood of refusals is cut, and the next line says how many were left out")
    func flood() throws {
        let log = SessionLog(logger, EdgeMetrics(MetricsRegistry()), wallClock: { 0 })
        let now = NIODeadline.uptimeNanoseconds(1 << 40)
        for _ in 0..<1_000 { refuse(log, user: "a", at: now) }
        #expect(lines.present.count == 10)
        refuse(log, user: "a", at: now + .seconds(1))
        #expect(lines.present.last?.contains("\"omitted\":990") == true)
    }

    @Test("every code of a refusal has a label")
    func labels() {
        func label(_ code: ErrorCode) -> LoginRefusal { LoginRefusal(RTMError(code, "")) }
        let quota = RTMError(.loginNoServerResources, "", limit: .init(name: "sessions of an app", value: 1))
        #expect(LoginRefusal(quota) == .quota)
        #expect(label(.loginRejected) == .banned, "no time to wait")
        #expect(LoginRefusal(RTMError(.loginRejected, "", retryAfter: .seconds(1))) == .rate)
        #expect(label(.invalidAppId) == .app)
        #expect(label(.tokenExpired) == .token)
        #expect(label(.loginNoServerResources) == .messaging)
        #expect(label(.invalidParameter) == .other)
    }

    @Test("apps beyond the first hundred share one series")
    func apps() {
        let table = AppMetricsTable(MetricsRegistry(), apps: (0..<150).map { "app\($0)" })
        table["app3"].publishes.increment()
        table["app120"].publishes.increment()
        table["never configured"].publishes.increment()
        #expect(table["app3"].publishes.value == 1)
        #expect(table["app149"].publishes.value == 2)
    }
}
