import NIOCore
import RTMModel
import RTMProtocol

/// Writes down what the link does. It is confined to the link's event loop.
final class FlightRecorder {
    private var ring: FlightRing
    private let isOn: Bool
    private let clock: LinkClock

    init(capacity: Int, clock: LinkClock) {
        ring = FlightRing(capacity: capacity)
        isOn = capacity > 0
        self.clock = clock
    }

    private var milliseconds: UInt64 { UInt64(max(0, clock.utcMilliseconds())) }

    func record(of configuration: RTMClient.Configuration) -> FlightRecord {
        FlightRecord(
            userID: configuration.userID, servers: configuration.servers.map { "\($0)" },
            exportedAt: milliseconds, entries: Array(ring.entries))
    }

    func noted(_ change: LinkChange) {
        guard isOn else { return }
        ring.note(
            .init(
                at: milliseconds, kind: .link, name: "\(change.current)", code: change.reasonCode.rawValue,
                reason: change.reason))
    }

    func sent(_ body: ClientBody?, bytes: Int) {
        guard isOn else { return }
        ring.note(.init(at: milliseconds, kind: .sent, name: FrameName.of(body), bytes: bytes))
    }

    func received(_ body: ServerBody?, bytes: Int) {
        guard isOn else { return }
        ring.note(.init(at: milliseconds, kind: .received, name: FrameName.of(body), bytes: bytes))
    }

    /// The app gets a gap event, whether the server has reported the gap by itself or in the answer to a
    /// login or a subscribe.
    func noted(_ gap: GapEvent) {
        guard isOn else { return }
        ring.note(.init(at: milliseconds, kind: .gap, name: "\(gap.channelType)"))
    }

    fileprivate func ended(_ operation: Operation, after time: Duration, _ error: RTMError?) {
        ring.note(
            .init(
                at: milliseconds, kind: .calls, name: operation.rawValue,
                longest: Int(time / .milliseconds(1)), code: error?.code.rawValue ?? 0,
                reason: error?.reason ?? ""))
    }

    /// The call of an app that begins now; nil where nothing is recorded.
    func begin(on loop: any EventLoop) -> Call? {
        isOn ? Call(recorder: NIOLoopBound(self, eventLoop: loop), began: clock.now()) : nil
    }

    /// A call that is under way.
    struct Call: Sendable {
        fileprivate let recorder: NIOLoopBound<FlightRecorder>
        fileprivate let began: ContinuousClock.Instant

        func ended(_ operation: Operation, _ error: RTMError?) {
            let recorder = recorder.value
            recorder.ended(operation, after: recorder.clock.now() - began, error)
        }
    }
}

extension RTMClient {
    /// What this client did and saw last: changes of the link, calls with their times and errors, kinds and
    /// sizes of frames. It has what ``Configuration/flightRecorderCapacity`` allows.
    ///
    /// ```swift
    /// try await client.flightRecord().json().write(to: file)      // then: rtm doctor FILE
    /// ```
    public func flightRecord() async -> FlightRecord {
        await withCheckedContinuation { continuation in
            eventLoop.execute { [link] in
                let link = link.value
                continuation.resume(returning: link.recorder.record(of: link.configuration))
            }
        }
    }
}

/// What a frame is called in a record of a client: as in the protocol.
enum FrameName {
    static func of(_ body: ClientBody?) -> String {
        switch body {
        case .hello: "Hello"
        case .login: "Login"
        case .logout: "Logout"
        case .heartbeat: "Heartbeat"
        case .subscribe: "Subscribe"
        case .unsubscribe: "Unsubscribe"
        case .publish: "Publish"
        case .renewToken: "RenewToken"
        case .whoNow, .whereNow, .setState, .getState, .removeState: "presence"
        case .writeMetadata, .getMetadata, .subscribeUserMetadata, .unsubscribeUserMetadata: "metadata"
        case .setLock, .removeLock, .acquireLock, .releaseLock, .revokeLock, .getLocks: "locks"
        case .getHistory: "GetHistory"
        case nil: "unknown"
        }
    }

    static func of(_ body: ServerBody?) -> String {
        switch body {
        case .welcome: "Welcome"
        case .loggedIn: "LoggedIn"
        case .loggedOut: "LoggedOut"
        case .heartbeatAck: "HeartbeatAck"
        case .subscribed: "Subscribed"
        case .unsubscribed: "Unsubscribed"
        case .published: "Published"
        case .error: "Error"
        case .publication: "Publication"
        case .gap: "Gap"
        case .disconnect: "Disconnect"
        case .tokenRenewed, .tokenWillExpire: "token"
        case .done: "Done"
        case .channelEnded: "ChannelEnded"
        case .onlineUsers, .userChannels, .userState, .presenceSnapshot: "presence"
        case .metadataWritten, .metadata, .userMetadataSubscribed: "metadata"
        case .lockAcquired, .locks: "locks"
        case .historyPage: "HistoryPage"
        case nil: "unknown"
        }
    }
}
