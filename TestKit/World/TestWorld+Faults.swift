import NIOCore
import RTMClient
public import RTMModel

/// What can happen to users and servers. Everything stays as it is until it is taken back.
extension TestWorld {
    /// The user's network is gone: nothing comes through in either direction, and nobody learns of it.
    public func cut(_ userID: String) async { await run { $0.cut(userID) } }

    /// The user's network is there again.
    public func mend(_ userID: String) async { await run { $0.mend(userID) } }

    /// The user's connections break, at both ends, and the network is fine.
    public func disconnect(_ userID: String) async { await run { $0.disconnect(userID) } }

    /// The user's packets take so much longer, each way. Zero takes that back.
    public func delay(_ userID: String, by time: Duration) async {
        await run { $0.delay(userID, by: TimeAmount(time)) }
    }

    /// The server's process is gone. What messaging had in its logs, and presence in its rosters, is lost;
    /// what storage has acknowledged is there when it starts again.
    public func stop(_ server: Server) async { await run { $0.stop(server) } }

    /// Starts a server that was stopped.
    public func start(_ server: Server) async throws { try await run { try $0.start(server) } }

    /// The server refuses the next calls of a user.
    ///
    /// - Parameters:
    ///   - call: which kind of calls.
    ///   - userID: whose.
    ///   - code: with what they are refused.
    ///   - retryAfter: when a repetition may succeed, as the server says.
    ///   - times: how many calls.
    public func refuse(
        _ call: Call, of userID: String, with code: ErrorCode, retryAfter: Duration? = nil, times: Int = 1
    ) async {
        guard times > 0 else { return }
        let error = RTMError(code, "refused by the test", retryAfter: retryAfter)
        await run {
            $0.refusals.add(Refusals.Refusal(call: call, error: error, times: times), for: userID)
        }
    }

    /// Sends messages to a user, from the user `world`. If the user's network is cut meanwhile, and there
    /// are more of them than the key `messaging.catchUp.entriesMax` allows, the user is informed of a gap
    /// afterwards.
    ///
    /// - Throws: `.channelReceiverOffline` (-11033) if the user is known to be offline, which is so some
    ///   seconds after the cut.
    public func fillInbox(of userID: String, with count: Int) async throws {
        let filler = try await client("world")
        for number in 0..<count { try await filler.publish("\(number)", to: .user(userID)) }
        try await filler.logout()
    }
}
