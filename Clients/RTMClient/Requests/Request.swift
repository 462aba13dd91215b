import RTMModel
import RTMProtocol

/// A request that waits for its answer: what each of its four ends means for the client.
///
/// Whoever takes a request out of the `RequestTable` calls exactly one of the four ends, once.
protocol Request {
    /// The call that the request belongs to, with its name and its error codes.
    var operation: Operation { get }

    /// What to send again when the path changes, if that does no harm; otherwise the request is lost.
    var repetition: ClientBody? { get }

    /// The server granted the request.
    ///
    /// - Returns: false if no such answer belongs to this request. Then `refused` is called.
    func answered(_ body: ServerBody) -> Bool
    /// The server refused the request, or its answer doesn't fit.
    func refused(_ error: RTMError)
    /// Nobody waits any longer, because the time is over or the waiting task was cancelled. The server may
    /// still do what it was asked to do.
    ///
    /// - Returns: what to do if the server grants the request later on this connection, if anything.
    func givenUp(_ error: RTMError) -> LateAnswer?
    /// The connection ended before the answer came.
    func lost(_ reason: String)

    /// The server refused the request, perhaps only for the moment. This is asked before `refused`.
    ///
    /// - Returns: true if the request stays in the table, to be sent again later.
    func isPostponed(by refusal: Rtm_Client_Error) -> Bool
}

/// Takes an answer that comes after its request was given up.
typealias LateAnswer = (ServerBody) -> Void

extension Request {
    var repetition: ClientBody? { nil }

    func isPostponed(by refusal: Rtm_Client_Error) -> Bool { false }
}
