import ArgumentParser
import RTMClient

/// Names a channel or user whose metadata are meant.
struct MetadataTargetArguments: ParsableArguments {
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case channel, user
    }

    @Argument(help: "'channel' or 'user'.")
    var kind: Kind

    @Argument(help: "Name of the channel, or user id.")
    var name: String

    @Flag(help: "The channel is a stream channel.")
    var stream = false

    @Option(
        help: .init(
            "Token with an rtc service for the stream channel, for an app with a certificate.",
            valueName: "token"))
    var joinToken: String?

    func validate() throws {
        if joinToken != nil, !stream { throw ValidationError("--join-token needs --stream") }
        if stream, kind == .user { throw ValidationError("--stream needs a channel") }
    }

    /// Without a name this user is meant.
    var names: [ArgumentName] {
        switch kind {
        case .channel: [.channel(name)]
        case .user: name.isEmpty ? [] : [.user(name)]
        }
    }

    /// Works while this user is in the stream channel: its metadata are for those who have joined it (D-15).
    func joined<Value>(_ client: RTMClient, _ work: () async throws -> Value) async throws -> Value {
        guard stream else { return try await work() }
        return try await client.withStreamChannel(name, token: joinToken, features: .quiet) { _ in
            try await work()
        }
    }

    var target: MetadataTarget {
        switch kind {
        case .channel: .channel(name, type: stream ? .stream : .message)
        case .user: .user(name)
        }
    }
}

/// The conditions of a write, and what it records.
struct MetadataWriteArguments: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: .init(
            "Write only if the set has this major revision; 0 means that there is no set.", valueName: "n"))
    var majorRevision: Int64?

    @Option(
        help: .init(
            "Write only if the item has this revision; 0 means that there is no such item. May be repeated.",
            valueName: "key=n"),
        transform: { try ItemRevision(argument: $0) })
    var revision: [ItemRevision] = []

    @Option(help: .init("Write only while this user owns this lock of the channel.", valueName: "name"))
    var lock: String?

    @Option(help: .init("Write only with this fencing token, which came with the lock.", valueName: "n"))
    var fencingToken: UInt64?

    @Flag(help: "Record with each item when it was written.")
    var recordTime = false

    @Flag(help: "Record with each item who wrote it.")
    var recordAuthor = false

    func validate() throws {
        if let majorRevision, majorRevision < 0 {
            throw ValidationError(
                "--major-revision \(majorRevision) is negative: 0 writes only if the set was never written, "
                    + "and without the option any major revision will do")
        }
        if fencingToken != nil, lock == nil { throw ValidationError("--fencing-token needs --lock") }
    }

    var options: MetadataWriteOptions {
        MetadataWriteOptions(
            majorRevision: majorRevision, recordsTimestamp: recordTime, recordsAuthor: recordAuthor,
            lock: lock, fencingToken: fencingToken)
    }

    /// - Throws: when a revision is given for a key that isn't written.
    func revisions(of keys: [String]) throws -> [String: Int64] {
        var revisions: [String: Int64] = [:]
        for item in revision {
            guard keys.contains(item.key) else {
                throw ValidationError("--revision names '\(item.key)', which is not among the items")
            }
            revisions[item.key] = item.revision
        }
        return revisions
    }
}

/// An argument of the form `KEY=N`.
struct ItemRevision: Sendable, Hashable {
    var key: String
    var revision: Int64

    init(argument: String) throws {
        // A key may contain '=', but a number doesn't.
        guard let separator = argument.lastIndex(of: "="),
            let revision = Int64(argument[argument.index(after: separator)...]),
            separator > argument.startIndex
        else { throw ValidationError("'\(argument)' is not KEY=N") }
        key = String(argument[..<separator])
        guard revision >= 0 else {
            throw ValidationError(
                "the revision in '\(argument)' is negative: 0 writes only if there is no such item, "
                    + "and without a revision any will do")
        }
        self.revision = revision
    }
}

/// An argument of the form `KEY=VALUE`.
struct ItemArgument: Sendable, Hashable {
    var key: String
    var value: String

    init(argument: String) throws {
        guard let separator = argument.firstIndex(of: "="), separator > argument.startIndex else {
            throw ValidationError("'\(argument)' is not KEY=VALUE")
        }
        key = String(argument[..<separator])
        value = String(argument[argument.index(after: separator)...])
    }
}
