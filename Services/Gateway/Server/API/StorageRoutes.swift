import Hummingbird
import RTMCredentials
import RTMModel
import RTMProtocol
import RTMWire
import SwiftProtobuf

/// Metadata of channels and users, with compare-and-set, and the locks of channels.
struct StorageRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) {
        group.get("metadata", use: read)
        group.put("metadata") { try await write(.metadataSet, $0, $1) }
        group.patch("metadata") { try await write(.metadataUpdate, $0, $1) }
        group.delete("metadata") { try await write(.metadataRemove, $0, $1) }
        group.get("locks", use: locks)
        group.put("locks/:lock", use: createLock)
        group.delete("locks/:lock", use: removeLock)
        group.post("locks/:lock/revoke", use: revokeLock)
    }

    // MARK: Bodies

    struct Write: APIBody {
        var items: StrictList<Item>?
        /// The write applies only if this is the set's revision, as a read gives it: 0 if nothing was ever
        /// written (D-9). Without it nothing is compared.
        var revision: Int64?
        /// Who is recorded as the author.
        var author: String?

        enum CodingKeys: String, CodingKey, CaseIterable { case items, revision, author }
    }

    struct Item: APIBody {
        var key: String
        var value: String?
        /// The write applies only if this is the item's revision; 0 if there is no such item.
        var revision: Int64?

        enum CodingKeys: String, CodingKey, CaseIterable { case key, value, revision }
    }

    struct Metadata: Encodable, Sendable {
        struct Item: Encodable, Sendable {
            let key: String
            let value: String
            let revision: Int64
            var updated: UInt64?
            var author: String?
        }

        let revision: Int64
        let items: [Item]
    }

    struct Written: Encodable, Sendable { let revision: Int64 }

    struct Locks: Encodable, Sendable {
        struct Lock: Encodable, Sendable {
            let name: String
            /// Absent while the lock is free.
            var owner: String?
            let ttl: UInt32
            let fencingToken: UInt64
        }
        let revision: UInt64
        let locks: [Lock]
    }

    struct LockSettings: APIBody {
        /// Seconds.
        var ttl: UInt32?
        enum CodingKeys: String, CodingKey, CaseIterable { case ttl }
    }

    struct Revocation: APIBody {
        var owner: String
        enum CodingKeys: String, CodingKey, CaseIterable { case owner }
    }

    struct Done: Encodable, Sendable {}

    // MARK: Metadata

    /// About what a set of many small items has as JSON.
    private static let metadataBytesMax = 256 * 1024

    /// `?channel=&type=` or `?user=`
    @Sendable func read(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .read)
        let target = try target(request, client)
        let ask = Rtm_Client_GetMetadata.with {
            $0.channelType = target.wireType
            $0.target = target.name
        }
        let share = try api.share(of: client, Self.metadataBytesMax)
        guard
            case .metadata(let set) = try await api.backend.storage(
                .getMetadata(ask), .storage, by: client, as: client.user ?? "")
        else { throw RTMError.unexpectedAnswer }
        let bytes = set.items.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        return try await api.page(
            Metadata(revision: set.majorRevision, items: set.items.map(Metadata.Item.init)), bytes: bytes,
            share, to: client)
    }

    private func write(
        _ kind: Rtm_Client_MetadataWriteKind, _ request: Request, _ context: GatewayContext
    ) async throws -> Response {
        let client = try api.admit(context, .publish)
        let target = try target(request, client)
        let body = try await api.body(Write.self, of: request, by: client, upTo: api.bodyBytesMax)
        let author = try client.actingUser(body.author) ?? ""
        let items = try (body.items?.elements ?? []).map { try $0.wireItem(for: kind) }
        let revision = try Self.wireRevision(body.revision)
        let ask = Rtm_Client_WriteMetadata.with {
            $0.channelType = target.wireType
            $0.target = target.name
            $0.kind = kind
            $0.items = items
            $0.majorRevision = revision
            $0.recordTs = true
            $0.recordAuthor = !author.isEmpty
        }
        guard
            case .metadataWritten(let written) = try await api.backend.storage(
                .writeMetadata(ask), .storage, by: client, as: author)
        else { throw RTMError.unexpectedAnswer }
        return Response(json: Written(revision: written.majorRevision))
    }

    /// On the wire 0 compares nothing, and -1 is for what isn't there.
    fileprivate static func wireRevision(_ revision: Int64?) throws(RTMError) -> Int64 {
        guard let revision else { return 0 }
        guard revision >= 0 else {
            throw RTMError(
                .storageInvalidRevision, "a revision is 0 or more; leave it out to compare nothing")
        }
        return revision == 0 ? -1 : revision
    }

    /// The channel or, with type none, the user whose metadata the query names.
    private func target(_ request: Request, _ client: APIClient) throws(APIError) -> ChannelKey {
        let query = try request.query(["channel", "type", "user"])
        guard let user = query["user"] else { return try query.channel(of: client) }
        guard query["channel"] == nil, query["type"] == nil else {
            throw APIError(.badRequest, "invalidTarget", "name either a \"channel\" or a \"user\"")
        }
        let target = ChannelKey(appID: client.app, type: .none, name: user)
        try client.check(target)
        return target
    }

    // MARK: Locks

    /// `?channel=&type=`, as in all routes of locks.
    @Sendable func locks(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .read)
        let channel = try request.query(["channel", "type"]).channel(of: client)
        let ask = Rtm_Client_GetLocks.with {
            $0.channelType = channel.wireType
            $0.channel = channel.name
        }
        guard case .locks(let answer) = try await api.backend.storage(.getLocks(ask), .locks, by: client)
        else { throw RTMError.unexpectedAnswer }
        return Response(
            json: Locks(revision: answer.revision, locks: answer.locks.map(Locks.Lock.init)))
    }

    @Sendable func createLock(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .publish)
        let channel = try request.query(["channel", "type"]).channel(of: client)
        let name = try context.parameter("lock")
        let settings = try await api.body(LockSettings.self, of: request, by: client)
        let ask = Rtm_Client_SetLock.with {
            $0.channelType = channel.wireType
            $0.channel = channel.name
            $0.name = name
            $0.ttlS = settings.ttl ?? 0
        }
        return try await change(.setLock(ask), client)
    }

    @Sendable func removeLock(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .publish)
        let channel = try request.query(["channel", "type"]).channel(of: client)
        let name = try context.parameter("lock")
        let ask = Rtm_Client_RemoveLock.with {
            $0.channelType = channel.wireType
            $0.channel = channel.name
            $0.name = name
        }
        return try await change(.removeLock(ask), client)
    }

    @Sendable func revokeLock(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admit(context, .publish)
        let channel = try request.query(["channel", "type"]).channel(of: client)
        let name = try context.parameter("lock")
        let body = try await api.body(Revocation.self, of: request, by: client)
        let ask = Rtm_Client_RevokeLock.with {
            $0.channelType = channel.wireType
            $0.channel = channel.name
            $0.name = name
            $0.owner = body.owner
        }
        return try await change(.revokeLock(ask), client)
    }

    private func change(
        _ ask: Rtm_Client_ClientFrame.OneOf_Body, _ client: APIClient
    ) async throws -> Response {
        guard
            case .done = try await api.backend.storage(
                ask, .locks, by: client, as: client.user ?? api.publisher)
        else { throw RTMError.unexpectedAnswer }
        return Response(json: Done())
    }
}

extension StorageRoutes.Metadata.Item {
    init(_ item: Rtm_Client_MetadataItem) {
        self.init(
            key: item.key, value: item.value, revision: item.revision,
            updated: item.updateTsMs == 0 ? nil : item.updateTsMs,
            author: item.author.isEmpty ? nil : item.author)
    }
}

extension StorageRoutes.Locks.Lock {
    init(_ lock: Rtm_Client_LockDetail) {
        self.init(
            name: lock.name, owner: lock.owner.isEmpty ? nil : lock.owner, ttl: lock.ttlS,
            fencingToken: lock.fencingToken)
    }
}

extension StorageRoutes.Item {
    fileprivate func wireItem(
        for kind: Rtm_Client_MetadataWriteKind
    ) throws(RTMError) -> Rtm_Client_MetadataItem {
        guard value != nil || kind == .metadataRemove else {
            throw RTMError(.storageInvalidValue, "the item \"\(key)\" has no value; it may be empty")
        }
        let revision = try StorageRoutes.wireRevision(revision)
        return .with {
            $0.key = key
            $0.value = value ?? ""
            $0.revision = revision
        }
    }
}
