import Foundation
import RTMModel
import RTMProtocol
import RTMWire
import SwiftProtobuf

/// An event as backends get it, by pull and in webhooks.
struct EventBody: Encodable, Sendable {
    /// Names the event, and is the cursor behind it.
    let id: String
    let type: String
    let app: String
    /// The channel, the user or the app that the event is about: `message:NAME`, `stream:NAME`,
    /// `topic:CHANNEL/TOPIC`, `user:ID` or `app`.
    let key: String
    /// Counts the events of the key without a hole; 0 for a gap that concerns this reader alone.
    let number: UInt64
    /// In milliseconds (UTC).
    let time: UInt64
    var channel: String?
    var channelType: String?
    var user: String?
    /// Absent where the type says everything.
    var data: Data?

    enum Data: Encodable, Sendable {
        case message(HistoryRoutes.Message)
        case joined(Joined)
        case left(Left)
        case metadata(Metadata)
        case lock(Lock)
        case gap(Gap)

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .message(let data): try data.encode(to: encoder)
            case .joined(let data): try data.encode(to: encoder)
            case .left(let data): try data.encode(to: encoder)
            case .metadata(let data): try data.encode(to: encoder)
            case .lock(let data): try data.encode(to: encoder)
            case .gap(let data): try data.encode(to: encoder)
            }
        }
    }

    struct Joined: Encodable, Sendable { let users: [String] }

    struct Left: Encodable, Sendable {
        /// Who unsubscribed or logged out.
        let users: [String]
        /// Who was lost.
        let timedOut: [String]
    }

    struct Metadata: Encodable, Sendable {
        let revision: Int64
        /// Who wrote.
        let by: String
        /// The whole set.
        let items: [StorageRoutes.Metadata.Item]
    }

    struct Lock: Encodable, Sendable {
        /// set, removed, acquired or released.
        let change: String
        let by: String
        let revision: UInt64
        let lock: StorageRoutes.Locks.Lock
    }

    struct Gap: Encodable, Sendable {
        let reason: String
        /// Nothing that happened before is lost, in milliseconds (UTC); absent if that isn't known.
        var since: UInt64?
    }
}

extension AppEventType {
    /// The name in the API.
    var name: String {
        switch self {
        case .gap: "gap"
        case .message: "message.published"
        case .channelJoined: "channel.joined"
        case .channelLeft: "channel.left"
        case .channelOccupied: "channel.occupied"
        case .channelVacated: "channel.vacated"
        case .metadata: "metadata.changed"
        case .lock: "lock.changed"
        case .login: "session.login"
        case .logout: "session.logout"
        case .timeout: "session.timeout"
        case .userOffline: "user.offline"
        }
    }
}

extension EventBody {
    init(_ event: AppEvent, app: String) {
        id = EventCursor.text(event.position)
        type = event.type.name
        self.app = app
        (number, time) = (event.number, event.timeMilliseconds)
        switch event.keyType {
        case .user: (key, user) = ("user:\(event.key)", event.key)
        case .none, .topics: key = "app"
        case .message, .stream, .topic:
            let type = event.keyType == .message ? "message" : event.keyType == .stream ? "stream" : "topic"
            (key, channel, channelType) = ("\(type):\(event.key)", event.key, type)
        }
        data = Self.data(event)
    }

    /// A body that can't be read was written by a newer version, whose events are more than this version
    /// knows.
    private static func data(_ event: AppEvent) -> Data? {
        if event.type == .gap {
            guard let gap = try? Rtm_Service_EventGap(serializedBytes: event.body) else { return nil }
            return .gap(Gap(reason: gap.reason, since: gap.sinceMs == 0 ? nil : gap.sinceMs))
        }
        guard !event.body.isEmpty,
            let publication = try? Rtm_Client_ServerFrame(serializedBytes: event.body).publication
        else { return nil }
        switch publication.event {
        case .message(let message):
            return .message(
                HistoryRoutes.Message(
                    Rtm_Client_HistoryMessage.with {
                        $0.publisher = publication.publisher
                        $0.timestampMs = publication.timestampMs
                        $0.order = publication.order
                        $0.customType = message.customType
                        $0.type = message.type
                        $0.payload = message.payload
                    }))
        case .presence(let presence): return self.presence(presence, event.type, publication.publisher)
        case .storage(let storage):
            return .metadata(
                Metadata(
                    revision: storage.majorRevision, by: publication.publisher,
                    items: storage.items.map(StorageRoutes.Metadata.Item.init)))
        case .lock(let lock):
            return .lock(
                Lock(
                    change: lock.type.change, by: publication.publisher, revision: lock.revision,
                    lock: StorageRoutes.Locks.Lock(lock.lock)))
        case nil: return nil
        }
    }

    private static func presence(
        _ presence: Rtm_Client_PresenceEvent, _ type: AppEventType, _ user: String
    ) -> Data? {
        let interval = presence.interval
        guard type == .channelLeft else {
            return .joined(
                Joined(users: presence.type == .presenceEventRemoteJoin ? [user] : interval.joined))
        }
        return .left(
            Left(
                users: presence.type == .presenceEventRemoteLeave ? [user] : interval.left,
                timedOut: presence.type == .presenceEventRemoteTimeout ? [user] : interval.timedOut))
    }
}

extension Rtm_Client_LockEventType {
    fileprivate var change: String {
        switch self {
        case .lockEventSet: "set"
        case .lockEventRemoved: "removed"
        case .lockEventAcquired: "acquired"
        case .lockEventReleased: "released"
        case .lockEventNone, .UNRECOGNIZED: "unknown"
        }
    }
}
