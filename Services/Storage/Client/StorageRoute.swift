package import RTMModel
import RTMServiceLink
package import RTMWire

/// Where in storage lies what a request is about.
package enum StorageRoute {
    case app(String)
    case channel(ChannelKey)
    /// Every shard has it.
    case any

    /// A channel of the shard; nil if every shard will do.
    var channel: ChannelKey? {
        switch self {
        case .app(let id): .app(id)
        case .channel(let channel): channel
        case .any: nil
        }
    }
}

/// A request to the shard of storage that has what it is about.
package protocol StorageRequesting: WireEncodable {
    var route: StorageRoute { get }
    /// How long storage may wait before it answers, beside the time of every call.
    var waiting: Duration { get }
}

extension StorageRequesting { package var waiting: Duration { .zero } }

/// A request about an app as a whole.
package protocol AppRequesting: StorageRequesting {
    var appID: String { get }
}

extension AppRequesting { package var route: StorageRoute { .app(appID) } }

extension AuditRequest: AppRequesting {}
extension Ban: AppRequesting {}
extension ClaimReader: AppRequesting {}
extension DeadLettersRequest: AppRequesting {}
extension EventsRequest: AppRequesting { package var waiting: Duration { wait } }
extension KeepAudit: AppRequesting {}
extension KeepReader: AppRequesting {}
extension MoveReader: AppRequesting {}
extension ReadersRequest: AppRequesting {}

/// A request about one channel.
package protocol StoredChannelRequesting: StorageRequesting {
    var channel: ChannelKey { get }
}

extension StoredChannelRequesting { package var route: StorageRoute { .channel(channel) } }

extension AppendHistoryRequest: StoredChannelRequesting {}
extension PurgeHistoryRequest: StoredChannelRequesting {}
extension SnapshotRequest: StoredChannelRequesting {}

/// A request whose channel can't be read is refused by every shard.
extension CallRequest: StorageRequesting {
    package var route: StorageRoute { storedChannel.map { .channel($0) } ?? .any }
}

extension EdgeQuestion: StorageRequesting { package var route: StorageRoute { .any } }
