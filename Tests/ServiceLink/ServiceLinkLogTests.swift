import Logging
import RTMWire
import Synchronization
import Testing

@testable import RTMServiceLink

@Suite("The log lines about links") struct ServiceLinkLogTests {
    /// Writes down what is logged at info and above.
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard event.level >= .info else { return }
            let text = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.append((["\(event.level): \(event.message)"] + text).joined(separator: " "))
        }
    }

    private let place = ServiceLinkLog.Place(service: "messaging", address: "10.0.0.1:7720")

    @Test(
        "the links of all loops to one place are logged once when they are lost, and once when all are back")
    func loops() {
        let lines = Lines()
        var logger = Logger(label: "test") { _ in Handler(lines: lines) }
        logger[metadataKey: "shard"] = "3"
        let log = ServiceLinkLog()
        for _ in 0..<4 { log.started(place) }
        for _ in 0..<4 { log.cameUp(place, logger, incarnation: 1) }
        let up = ["info: link up incarnation=1"]
        #expect(lines.all == up, "one line for the first of them")
        for _ in 0..<4 { log.wentDown(place, logger, .silent, wasUp: true, isEnding: false) }
        for _ in 0..<4 {
            log.wentDown(
                place, logger, .connectFailed("Connection refused"), wasUp: false, isEnding: false)
        }
        let down =
            up + [
                "warning: link down reason=the peer fell silent",
                "warning: link not opened reason=no connection: Connection refused",
            ]
        #expect(lines.all == down)
        for _ in 0..<3 { log.cameUp(place, logger, incarnation: 2) }
        #expect(lines.all == down, "one of them is still down")
        log.cameUp(place, logger, incarnation: 2)
        #expect(lines.all == down + ["notice: link up incarnation=2 links=4"])
        log.wentDown(place, logger, .silent, wasUp: true, isEnding: false)
        #expect(lines.all.count == 5, "the next outage has lines of its own")
    }

    @Test("what this end closes is nothing to warn of, and a place without links is forgotten")
    func ending() {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Handler(lines: lines) }
        let log = ServiceLinkLog()
        log.started(place)
        log.wentDown(place, logger, .shutDown, wasUp: false, isEnding: true)
        log.retired(place)
        log.started(place)
        log.cameUp(place, logger, incarnation: 1)
        #expect(lines.all == ["info: link up incarnation=1"])
    }

    @Test("a caller is logged with its first link and with its last, however many it has")
    func callers() {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Handler(lines: lines) }
        let log = ServiceLinkLog()
        for _ in 0..<3 { log.opened(by: "edge a", logger) }
        log.opened(by: "edge b", logger)
        for _ in 0..<2 { log.closed(by: "edge a", .silent, logger) }
        let opened = ["info: link opened node=edge a", "info: link opened node=edge b"]
        #expect(lines.all == opened)
        log.closed(by: "edge a", .shutDown, logger)
        log.opened(by: "edge a", logger)
        let closed = "info: link closed node=edge a reason=\(ServiceLinkDownReason.shutDown)"
        #expect(lines.all == opened + [closed, opened[0]])
    }

    @Test("a reason is a sentence, and no name of the code")
    func words() {
        let reasons: [ServiceLinkDownReason] = [
            .notStarted, .connectFailed("Connection refused"), .handshakeTimedOut, .silent, .closedByPeer,
            .broken("Broken pipe"), .protocolError("a second hello"), .overflow, .shutDown,
            .goneAway(.init(.draining)), .peerRefused(.init(.wrongSecret)), .goneAway(.init(.unknownNode)),
            .goneAway(.init(.overflow, "all links are taken")),
        ]
        for reason in reasons {
            let words = "\(reason)".split(separator: " ")
            for word in words {
                let isName = word.dropFirst().contains { $0.isUppercase }
                #expect(!isName, "\(reason)")
            }
        }
        #expect("\(reasons[9])" == "the peer closed the link: it is shutting down")
        #expect("\(reasons[12])" == "the peer closed the link: all links are taken")
    }
}
