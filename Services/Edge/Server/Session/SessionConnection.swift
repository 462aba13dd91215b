import NIOCore
import RTMModel
import RTMWire

/// The socket side of a session.
protocol SessionConnection: AnyObject {
    /// Adds whole frames to what is written at the end of the turn.
    func send(_ frames: ByteBuffer)
    /// Adds what the client has asked for, which waits there until the client reads it.
    func send(_ page: RequestedPage)
    /// Has whole frames written behind those.
    func write(_ encode: (inout ByteBuffer) -> Void)
    /// The same for acknowledgements of publishes, which the loop writes behind the messages to others.
    func acknowledge(_ encode: (inout ByteBuffer) -> Void)
    /// As `send` and `write`, but while the client is behind the frames wait, and more urgent topics go
    /// first.
    func send(_ frames: ByteBuffer, of topic: TopicRank)
    func write(of topic: TopicRank, _ encode: (inout ByteBuffer) -> Void)
    /// Counts bytes of presence that are sent next. Returns false if the client is too far behind for them:
    /// then they have to be left out.
    func reservePresence(_ bytes: Int) -> Bool
    /// What waits of the topic with this channel index goes before what is sent next.
    func release(_ topic: Int)
    /// The session's inbox is attached: from here on messages reach the user.
    func loginSucceeded(_ session: Session, inbox position: StreamPosition, gap: Bool, _ requestID: UInt64)
    func refuseLogin(_ error: RTMError, _ requestID: UInt64)
    /// Whether the client has taken nearly all that was sent to it. What the client has asked for itself
    /// waits for that.
    var isWritable: Bool { get }
    /// Calls once the connection is writable, or has ended.
    func whenWritable(_ body: @escaping () -> Void)
    /// How many bytes wait for the client to read them, pages included.
    var waitingBytes: Int { get }
    /// Where it comes from, for operators.
    var origin: ConnectionOrigin { get }
    /// Drops them, says why, and closes.
    func cutOff(_ reason: Disconnect)
    /// Reads no more requests, until the answers to the earlier ones are read.
    func pauseReadingRequests()
    /// Ends `pauseReadingRequests`.
    func resumeReadingRequests()
    /// Leaves what the client sends in the socket, so that it sends no more.
    func pauseReading()
    /// Ends `pauseReading`.
    func resumeReading()
    /// The session has a new token for a stream channel, which ends at some time.
    func joinTokenAccepted()
    /// Says why, and closes.
    func disconnect(_ reason: Disconnect)
    /// Closes without a word: the client is here again, over another connection (S-12b).
    func replaced()
}

extension SessionConnection {
    /// Where nothing expires.
    func joinTokenAccepted() {}

    // Where nothing waits.
    func acknowledge(_ encode: (inout ByteBuffer) -> Void) { write(encode) }
    func send(_ page: RequestedPage) { send(page.frames) }
    func reservePresence(_ bytes: Int) -> Bool { true }
    var waitingBytes: Int { 0 }
    var origin: ConnectionOrigin { ConnectionOrigin() }
    func cutOff(_ reason: Disconnect) { disconnect(reason) }
    func pauseReadingRequests() {}
    func resumeReadingRequests() {}
    func send(_ frames: ByteBuffer, of topic: TopicRank) { send(frames) }
    func write(of topic: TopicRank, _ encode: (inout ByteBuffer) -> Void) { write(encode) }
    func release(_ topic: Int) {}
}
