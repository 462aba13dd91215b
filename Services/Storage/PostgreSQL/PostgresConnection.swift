internal import CPQ
import Dispatch
import Foundation
import RTMServiceKit

/// One connection to PostgreSQL, which one thread uses. Statements go in a pipeline: all of them at once,
/// and then all answers, so a transaction takes one round trip however many statements it has. Statements
/// are prepared once and kept.
///
/// The socket doesn't block. While it can't be written the connection reads, because a server that can't
/// send its answers stops reading: with blocking calls both sides would wait for ever.
final class PostgresConnection {
    private let handle: OpaquePointer
    private let notices: Unmanaged<Notices>
    /// Counts the open connections.
    private let count: Gauge?
    /// The names of prepared statements by the address of their literal.
    private var prepared: [UnsafePointer<UInt8>: String] = [:]
    /// False once the connection is lost, or an answer was late.
    private(set) var isUsable = true

    /// What the server has warned of.
    private final class Notices {
        var states: [String] = []
    }

    init(_ options: PostgresOptions) throws(PostgresFailure) {
        let parameters = try options.parameters()
        guard let handle = Self.start(parameters) else {
            throw PostgresFailure(cause: .lost, reason: "no memory for a connection")
        }
        self.handle = handle
        count = options.connections
        count?.add(1)
        notices = .passRetained(Notices())
        let receiver: PQnoticeReceiver = { notices, result in
            guard let notices, let state = PQresultErrorField(result, PostgresConnection.state) else {
                return
            }
            Unmanaged<Notices>.fromOpaque(notices).takeUnretainedValue().states
                .append(String(cString: state))
        }
        PQsetNoticeReceiver(handle, receiver, notices.toOpaque())
        do throws(PostgresFailure) {
            try connect(until: .now() + options.connectTimeout.interval)
            guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else { throw lost() }
            try checkServer(within: options.connectTimeout)
        } catch {
            close()
            throw error
        }
    }

    /// Ends the connection. It can't be used afterwards.
    func close() {
        guard !isClosed else { return }
        (isClosed, isUsable) = (true, false)
        PQfinish(handle)
        notices.release()
        count?.add(-1)
    }

    private var isClosed = false

    deinit { close() }

    /// The address of this machine from which the server is reached; nil if others don't reach it.
    var ownHost: String? { OwnAddress.of(PQsocket(handle)) }

    // MARK: Connecting

    private static func start(_ parameters: [String: String]) -> OpaquePointer? {
        let pairs = Array(parameters)
        let words = pairs.map { strdup($0.key) } + pairs.map { strdup($0.value) }
        defer { for word in words { free(word) } }
        let names = words.prefix(pairs.count).map { UnsafePointer($0) } + [nil]
        let values = words.suffix(pairs.count).map { UnsafePointer($0) } + [nil]
        return PQconnectStartParams(names, values, 0)
    }

    private func connect(until deadline: DispatchTime) throws(PostgresFailure) {
        guard PQstatus(handle) != CONNECTION_BAD else { throw lost() }
        var awaited = POLLOUT
        while true {
            try wait(for: Int16(awaited), until: deadline)
            switch PQconnectPoll(handle) {
            case PGRES_POLLING_OK: return
            case PGRES_POLLING_READING: awaited = POLLIN
            case PGRES_POLLING_WRITING: awaited = POLLOUT
            default: throw lost()
            }
        }
    }

    /// Refuses what the engine doesn't work over.
    private func checkServer(within timeout: Duration) throws(PostgresFailure) {
        let found = try run(
            [PostgresStatement("SELECT pg_backend_pid(), version()")], within: timeout
        )[0].first
        let version = found?.text(1) ?? ""
        if let name = ["CockroachDB", "YugabyteDB", "-YB-"].first(where: version.contains) {
            throw PostgresFailure(
                cause: .refused("0A000"),
                reason: "the server is \(name.contains("YB") ? "YugabyteDB" : name), on which storage "
                    + "has not been tried")
        }
        guard PQserverVersion(handle) >= 140_000 else {
            throw PostgresFailure(
                cause: .refused("0A000"), reason: "the server is older than PostgreSQL 14: \(version)")
        }
        // A pool that gives each transaction another session loses prepared statements and settings.
        guard found?.integer(0) == Int64(PQbackendPID(handle)) else {
            throw PostgresFailure(
                cause: .refused("0A000"),
                reason: "a pool of connections such as pgbouncer is between storage and the server: "
                    + "connect to the server itself")
        }
    }

    // MARK: Running

    /// Runs statements in one pipeline. After a failure none of the statements behind it has run, and a
    /// transaction that they have begun is rolled back.
    func run(
        _ statements: [PostgresStatement], within timeout: Duration
    ) throws(PostgresFailure) -> [PostgresRows] {
        guard isUsable else { throw PostgresFailure(cause: .lost, reason: "the connection is closed") }
        notices.takeUnretainedValue().states.removeAll()
        let deadline = DispatchTime.now() + timeout.interval
        var pipeline = Pipeline()
        for (index, statement) in statements.enumerated() { try send(statement, index, &pipeline) }
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        try drain(&pipeline, until: deadline)
        guard let failure = pipeline.failure else { return pipeline.rows }
        try rollBack(until: deadline)
        throw failure
    }

    private func rollBack(until deadline: DispatchTime) throws(PostgresFailure) {
        guard PQtransactionStatus(handle) == PQTRANS_INERROR else { return }
        var rollback = Pipeline()
        try send(PostgresStatement("ROLLBACK"), 0, &rollback)
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        try drain(&rollback, until: deadline)
    }

    /// Whether the server has warned during the last `run` (SQLSTATE 01000), as it does when an operator
    /// cancels a commit's wait for a standby: the commit is then reported as a success.
    var hasWarned: Bool { notices.takeUnretainedValue().states.contains("01000") }

    /// Runs a script of statements without parameters, such as those of a schema. After a failure its
    /// transaction is rolled back.
    func execute(_ script: String, within timeout: Duration) throws(PostgresFailure) {
        guard isUsable else { throw PostgresFailure(cause: .lost, reason: "the connection is closed") }
        let deadline = DispatchTime.now() + timeout.interval
        guard PQexitPipelineMode(handle) == 1, PQsendQuery(handle, script) == 1 else { throw lost() }
        var failure: PostgresFailure?
        reading: while true {
            let isSending = PQflush(handle)
            guard isSending >= 0 else { throw lost() }
            while PQisBusy(handle) == 0 {
                guard let result = PQgetResult(handle) else { break reading }
                if PQresultStatus(result) == PGRES_FATAL_ERROR { failure = self.failure(result, nil) }
                PQclear(result)
            }
            try wait(for: Int16(isSending == 1 ? POLLIN | POLLOUT : POLLIN), until: deadline)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
        guard PQstatus(handle) == CONNECTION_OK, PQenterPipelineMode(handle) == 1 else { throw lost() }
        if let failure {
            try rollBack(until: deadline)
            throw failure
        }
    }

    /// What was sent, in the order in which it is answered.
    private struct Pipeline {
        enum Part {
            /// Nil for a statement that isn't kept.
            case preparation(UnsafePointer<UInt8>?)
            case statement(Int)
        }

        var parts: [Part] = []
        var place = 0
        var rows: [PostgresRows] = []
        var failure: PostgresFailure?
    }

    private func send(
        _ statement: PostgresStatement, _ index: Int, _ pipeline: inout Pipeline
    ) throws(PostgresFailure) {
        switch statement.sql {
        case .once(let sql): try prepare(sql, as: "", nil, statement, &pipeline)
        case .kept(let sql) where prepared[sql.utf8Start] == nil:
            let name = "s\(UInt(bitPattern: sql.utf8Start))"
            try prepare(sql.description, as: name, sql.utf8Start, statement, &pipeline)
            prepared[sql.utf8Start] = name
        case .kept: break
        }
        let name = if case .kept(let sql) = statement.sql { prepared[sql.utf8Start] ?? "" } else { "" }
        guard query(name, statement.values) else { throw lost() }
        pipeline.parts.append(.statement(index))
    }

    private func prepare(
        _ sql: String, as name: String, _ literal: UnsafePointer<UInt8>?, _ statement: PostgresStatement,
        _ pipeline: inout Pipeline
    ) throws(PostgresFailure) {
        let types = statement.values.map(\.type)
        guard PQsendPrepare(handle, name, sql, Int32(types.count), types) == 1 else { throw lost() }
        pipeline.parts.append(.preparation(literal))
    }

    private func query(_ name: String, _ values: [PostgresValue]) -> Bool {
        var bytes: [UInt8] = []
        var places: [Range<Int>?] = []
        for value in values {
            let start = bytes.count
            places.append(value.append(to: &bytes) ? start..<bytes.count : nil)
        }
        // An empty array has no address, and NULL is one without an address.
        bytes.append(0)
        return bytes.withUnsafeBufferPointer { buffer in
            let start = buffer.baseAddress.map {
                UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)
            }
            let pointers = places.map { place in
                place.flatMap { range in start.map { $0 + range.lowerBound } }
            }
            return PQsendQueryPrepared(
                handle, name, Int32(values.count), pointers, places.map { Int32($0?.count ?? 0) },
                Array(repeating: 1, count: values.count), 1) == 1
        }
    }

    /// Sends what is left and reads all answers.
    private func drain(_ pipeline: inout Pipeline, until deadline: DispatchTime) throws(PostgresFailure) {
        while true {
            let isSending = PQflush(handle)
            guard isSending >= 0 else { throw lost() }
            while PQisBusy(handle) == 0 {
                guard let result = PQgetResult(handle) else {
                    // Nothing stands between the answers of two statements. Something else than a
                    // server may send more ends than there were statements.
                    guard PQstatus(handle) == CONNECTION_OK, pipeline.place < pipeline.parts.count else {
                        throw lost()
                    }
                    pipeline.place += 1
                    continue
                }
                if PQresultStatus(result) == PGRES_PIPELINE_SYNC {
                    PQclear(result)
                    return
                }
                take(result, &pipeline)
            }
            try wait(for: Int16(isSending == 1 ? POLLIN | POLLOUT : POLLIN), until: deadline)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    private func take(_ result: OpaquePointer, _ pipeline: inout Pipeline) {
        let part = pipeline.parts.indices.contains(pipeline.place) ? pipeline.parts[pipeline.place] : nil
        let isGood = [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result))
        switch part {
        case .statement(let index):
            if isGood { return pipeline.rows.append(PostgresRows(result)) }
            if PQresultStatus(result) == PGRES_FATAL_ERROR, pipeline.failure == nil {
                pipeline.failure = failure(result, index)
            }
        case .preparation(let literal):
            if !isGood, let literal { prepared[literal] = nil }
            if PQresultStatus(result) == PGRES_FATAL_ERROR, pipeline.failure == nil {
                pipeline.failure = failure(result, nil)
            }
        case nil: break
        }
        PQclear(result)
    }

    // MARK: Failures

    /// The field of a result that has its SQLSTATE.
    private static let state = Int32(UInt8(ascii: "C"))

    private func failure(_ result: OpaquePointer, _ statement: Int?) -> PostgresFailure {
        let state = PQresultErrorField(result, Self.state).map { String(cString: $0) }
        let words = Self.line(String(cString: PQresultErrorMessage(result)))
        return PostgresFailure(
            cause: state.map { .refused($0) } ?? .lost, reason: words, statement: statement)
    }

    private func lost() -> PostgresFailure {
        isUsable = false
        let words = Self.line(String(cString: PQerrorMessage(handle)))
        return PostgresFailure(cause: .lost, reason: words.isEmpty ? "the connection is lost" : words)
    }

    /// Messages of libpq end with a line feed, and have several lines if there are several hosts.
    static func line(_ words: String) -> String {
        words.split(separator: "\n").joined(separator: "; ")
    }

    private func wait(for events: Int16, until deadline: DispatchTime) throws(PostgresFailure) {
        while true {
            let now = DispatchTime.now()
            guard now < deadline else {
                isUsable = false
                throw PostgresFailure(cause: .late, reason: "the deadline has passed")
            }
            let left = (deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1_000_000 + 1
            var socket = pollfd(fd: PQsocket(handle), events: events, revents: 0)
            let ready = poll(&socket, 1, Int32(clamping: left))
            if ready > 0 { return }
            guard ready == 0 || errno == EINTR else { throw lost() }
        }
    }
}

extension Duration {
    fileprivate var interval: DispatchTimeInterval {
        .nanoseconds(
            Int(clamping: components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000))
    }
}
