// How every feature sends requests to the server, and what ends a request: the server's answer, the time, a
// cancellation, or the loss of the connection. The type of the request decides what each end means.

import RTMModel
import RTMProtocol

typealias ClientBody = Rtm_Client_ClientFrame.OneOf_Body
typealias ServerBody = Rtm_Client_ServerFrame.OneOf_Body

/// How long the client waits for an answer.
enum AnswerTime {
    /// For `Configuration.requestTimeout`.
    case usual
    case limited(Duration)
    /// As long as the connection lives, because the server answers when the time has come.
    case unlimited
}

final class Requests {
    private let session: LinkSession
    private let recorder: FlightRecorder
    private let ids: RequestIDs
    private var table = RequestTable()
    /// What to do with answers to requests that were given up on this connection.
    private var lateAnswers: [UInt64: LateAnswer] = [:]

    init(session: LinkSession, recorder: FlightRecorder, ids: RequestIDs) {
        self.session = session
        self.recorder = recorder
        self.ids = ids
    }

    var deadline: LinkSession.Instant? { table.deadline }
    var isFull: Bool { table.isFull }

    /// Whether the request still waits for its answer.
    func isOpen(_ id: UInt64) -> Bool { table[id] != nil }

    // MARK: Sending

    /// Whether a call can be sent now. If it can't, this fails the call: after `close()`, before a login, and
    /// while there is no connection (S-8, S-9).
    func isReady<Value>(for completion: Completion<Value>) -> Bool {
        if let error = obstacle(to: completion.operation) {
            completion.fail(error)
            return false
        }
        return true
    }

    /// Why a call can't be sent now.
    func obstacle(to operation: Operation) -> RTMError? {
        if session.isClosed { return .released }
        switch session.state {
        case .connected:
            guard table.isFull else { return nil }
            return RTMError(
                .operationRateExceedLimitation,
                "\(RequestTable.capacity) calls wait for an answer already",
                limit: .init(name: "calls in flight", value: UInt64(RequestTable.capacity)))
        case .idle, .failed:
            return session.notLoggedIn
        case .connecting, .disconnected, .suspended:
            return RTMError(
                operation.codes.notConnected, "there is no connection at present: \(session.state)")
        }
    }

    /// The id of a request of the link's own that is sent within another one.
    func nextID() -> UInt64 { ids.next() }

    /// Sends a request and waits for its answer.
    ///
    /// - Parameter id: `nil` for a request of the link's own, which gets a new id.
    func send(
        _ request: some Request, id: UInt64? = nil, within time: AnswerTime = .usual,
        _ fill: (inout Rtm_Client_ClientFrame) -> Void
    ) {
        let id = id ?? ids.next()
        add(request, id: id, within: time)
        sendFrame(id, fill)
    }

    /// Begins to wait for the answer to a request that is sent later.
    func add(_ request: some Request, id: UInt64, within time: AnswerTime = .usual) {
        let deadline: LinkSession.Instant? =
            switch time {
            case .usual: session.now + session.configuration.requestTimeout
            case .limited(let duration): session.now + duration
            case .unlimited: nil
            }
        table.add(id, request, deadline: deadline)
        if let deadline { session.wake(by: deadline) }
    }

    /// Sends a request once more whose answer is still awaited.
    func resend(_ id: UInt64) {
        if let body = table[id]?.repetition { sendFrame(id) { $0.body = body } }
    }

    /// Sends a frame, and ignores its answer.
    ///
    /// - Returns: the id of the frame.
    @discardableResult
    func notify(_ fill: (inout Rtm_Client_ClientFrame) -> Void) -> UInt64 {
        let id = ids.next()
        sendFrame(id, fill)
        return id
    }

    /// Sends the frame of a request that the table has already.
    func sendFrame(_ id: UInt64, _ fill: (inout Rtm_Client_ClientFrame) -> Void) {
        if let socket = session.connection?.socket { sendFrame(id, on: socket, fill) }
    }

    /// Sends the last frame of a connection that the link has released.
    func sendLogout(on socket: ServerConnection) {
        sendFrame(ids.next(), on: socket) { $0.logout = Rtm_Client_Logout() }
    }

    private func sendFrame(
        _ id: UInt64, on socket: ServerConnection, _ fill: (inout Rtm_Client_ClientFrame) -> Void
    ) {
        var frame = Rtm_Client_ClientFrame()
        frame.requestID = id
        fill(&frame)
        recorder.sent(frame.body, bytes: socket.send(frame))
    }

    // MARK: The four ends

    func answered(_ id: UInt64, _ body: ServerBody) {
        guard let request = table[id] else {
            lateAnswers.removeValue(forKey: id)?(body)
            return
        }
        if case .error(let error) = body {
            guard !request.isPostponed(by: error) else { return }
            table.take(id)
            request.refused(RTMError(error, unknownCode: request.operation.codes.refused))
        } else {
            table.take(id)
            if !request.answered(body) {
                request.refused(
                    RTMError(
                        request.operation.codes.failed, "the server's answer doesn't fit the request"))
            }
        }
    }

    func expire(now: LinkSession.Instant) {
        let time = session.configuration.requestTimeout
        while let (id, request) = table.takeExpired(now: now) {
            let operation = request.operation
            let outcome = operation == .publish ? "; whether the message was published is unknown" : ""
            let error = RTMError(
                operation.codes.timedOut, "the server did not answer within \(time)\(outcome)")
            giveUp(id, request, error)
        }
    }

    /// The task that waited for this request was cancelled.
    ///
    /// - Returns: false if no such request waits for an answer.
    func cancel(_ id: UInt64) -> Bool {
        guard let request = table.take(id) else { return false }
        giveUp(id, request, .cancelled(request.operation))
        return true
    }

    /// Ends a request; its answer isn't awaited any longer.
    func refuse(_ id: UInt64, _ error: RTMError) { table.take(id)?.refused(error) }

    /// Ends the requests that the app has taken back, before they are sent again.
    func refuse(_ error: RTMError, where isMeant: (any Request) -> Bool) {
        for id in table.ids(where: isMeant) { refuse(id, error) }
    }

    /// The connection ended, and the client will come back. Only the requests in `kept` are sent again then.
    func connectionLost(_ reason: String, keeping kept: Set<UInt64>) {
        lateAnswers = [:]
        for (id, request) in table.takeAll(except: kept) { lose(id, request, reason) }
    }

    /// The requests that may be sent again on another path. Their time runs on.
    var repeatable: Set<UInt64> { Set(table.repetitions.map(\.id)) }

    /// The client is logged in on another path. This comes before any new request there.
    func resendRepeatable() {
        for (id, body) in table.repetitions { sendFrame(id) { $0.body = body } }
    }

    /// The session is over, so that nothing is sent again.
    func sessionEnded(_ reason: String) {
        lateAnswers = [:]
        for (id, request) in table.takeAll() { lose(id, request, reason) }
    }

    private func lose(_ id: UInt64, _ request: any Request, _ reason: String) {
        if session.isClosed { giveUp(id, request, .released) } else { request.lost(reason) }
    }

    private func giveUp(_ id: UInt64, _ request: any Request, _ error: RTMError) {
        guard let lateAnswer = request.givenUp(error), session.connection != nil else { return }
        lateAnswers[id] = lateAnswer
    }
}

extension RTMError {
    /// The connection was lost after the request was sent.
    static func answerLost(_ operation: Operation, _ reason: String) -> RTMError {
        RTMError(
            operation.codes.lost,
            "the connection was lost before the answer came: \(reason). It is unknown whether the call took "
                + "effect", outcome: .unknown)
    }
}
