import ArgumentParser
import Foundation
import RTMClient
import Testing

@testable import rtm

@Suite("metadata, lock and history at the command line")
struct StorageCommandTests {
    private func parse<Command: ParsableCommand>(
        _ arguments: String..., as: Command.Type = Command.self
    ) throws -> Command {
        try #require(try RTMCommand.parseAsRoot(arguments) as? Command)
    }

    private func isRefused(_ arguments: String...) -> Bool {
        (try? RTMCommand.parseAsRoot(arguments)) == nil
    }

    @Test("items are KEY=VALUE, and conditions name their items")
    func set() throws {
        let command: MetadataSetCommand = try parse(
            "metadata", "set", "channel", "lobby", "topic=a=b", "empty=", "--revision", "topic=7",
            "--major-revision", "9", "--lock", "manage", "--fencing-token", "3", "--record-time")
        #expect(command.target.target == .channel("lobby"))
        #expect(command.items.map(\.key) == ["topic", "empty"])
        #expect(command.items.map(\.value) == ["a=b", ""])
        #expect(try command.write.revisions(of: ["topic", "empty"]) == ["topic": 7])
        #expect(
            command.write.options
                == MetadataWriteOptions(
                    majorRevision: 9, recordsTimestamp: true, lock: "manage", fencingToken: 3))
        #expect(isRefused("metadata", "set", "channel", "lobby", "topic"))
        #expect(isRefused("metadata", "set", "channel", "lobby", "=x"))
        #expect(isRefused("metadata", "set", "room", "lobby", "a=b"))
        #expect(isRefused("metadata", "update", "channel", "lobby", "a=b", "--revision", "c=1"))
        #expect(isRefused("metadata", "set", "channel", "lobby", "a=b", "--revision", "a=x"))
        #expect(isRefused("metadata", "set", "channel", "lobby", "a=b", "--fencing-token", "3"))
    }

    @Test("a negative revision is refused with a sentence that says what 0 means")
    func negativeRevisions() {
        for arguments in [["--major-revision", "-1"], ["--revision", "a=-1"]] {
            let error = #expect(throws: (any Error).self) {
                try RTMCommand.parseAsRoot(["metadata", "set", "channel", "lobby", "a=b"] + arguments)
            }
            let text = error.map { RTMCommand.message(for: $0) } ?? ""
            #expect(text.contains("is negative: 0 writes only if"), "\(text)")
        }
    }

    @Test("a key may contain '='; its revision follows the last one")
    func revisionOfKey() throws {
        let revision = try ItemRevision(argument: "a=b=12")
        #expect(revision.key == "a=b" && revision.revision == 12)
    }

    @Test("targets are channels, stream channels and users")
    func targets() throws {
        let stream: MetadataGetCommand = try parse("metadata", "get", "channel", "lobby", "--stream")
        #expect(stream.target.target == .channel("lobby", type: .stream))
        let user: MetadataGetCommand = try parse("metadata", "get", "user", "bob", "status")
        #expect(user.target.target == .user("bob") && user.keys == ["status"])
        #expect(isRefused("metadata", "get", "user", "bob", "--stream"))
        #expect(isRefused("metadata", "get", "channel", "lobby", "--join-token", "t"))
        #expect(isRefused("metadata", "watch", "channel", "bob", "--stream"))
    }

    @Test("a whole set is only removed when that is said")
    func remove() throws {
        let keys: MetadataRemoveCommand = try parse(
            "metadata", "remove", "channel", "lobby", "a", "b", "--revision", "b=2")
        #expect(keys.keys == ["a", "b"] && !keys.all)
        let all: MetadataRemoveCommand = try parse("metadata", "remove", "channel", "lobby", "--all")
        #expect(all.all)
        #expect(isRefused("metadata", "remove", "channel", "lobby"))
        #expect(isRefused("metadata", "remove", "channel", "lobby", "a", "--all"))
    }

    @Test("a command behind -- is the lock's, with its own options")
    func acquire() throws {
        let plain: LockAcquireCommand = try parse("lock", "acquire", "lobby", "manage", "--no-wait")
        #expect(plain.noWait && plain.command.isEmpty)
        let command: LockAcquireCommand = try parse(
            "lock", "acquire", "lobby", "manage", "--user", "bob", "--", "sh", "-c", "exit 3")
        #expect(command.command == ["sh", "-c", "exit 3"] && command.common.user == "bob")
        let set: LockSetCommand = try parse("lock", "set", "lobby", "manage", "--ttl", "1m", "--stream")
        #expect(set.ttl == .seconds(60) && set.lock.type == .stream)
        let revoke: LockRevokeCommand = try parse("lock", "revoke", "lobby", "manage", "bob")
        #expect(revoke.owner == "bob")
    }

    @Test("a child's exit status is its own, also when a signal ended it")
    func child() async throws {
        func run(_ script: String) async throws -> Int32 {
            try await ChildCommand(["sh", "-c", script], environment: ["RTM_FENCING_TOKEN": "7"]).run()
                .rawValue
        }
        #expect(try await run("exit $RTM_FENCING_TOKEN") == 7)
        #expect(try await run("true") == 0)
        #expect(try await run("kill -9 $$") == 137)
        #expect(try await ChildCommand(["/no/such/command"], environment: [:]).run().rawValue == 127)
    }

    @Test("a lock is lost by its own release or a later owner, not by what happened before")
    func loss() {
        func isLoss(_ kind: LockEvent.Kind, _ token: UInt64) -> Bool {
            let detail = LockDetail(name: "manage", fencingToken: token)
            let event = LockEvent(
                kind: kind, channelType: .message, channelName: "lobby", locks: [detail],
                timestampMilliseconds: 1)
            return event.isLoss(of: 7, detail)
        }
        #expect(isLoss(.released, 7) && isLoss(.removed, 7) && isLoss(.acquired, 8) && isLoss(.expired, 7))
        #expect(!isLoss(.released, 6) && !isLoss(.acquired, 7) && !isLoss(.snapshot, 7) && !isLoss(.set, 0))
    }

    @Test("times are milliseconds or ISO 8601")
    func times() throws {
        #expect(try HistoryTime(argument: "1790000000000").milliseconds == 1_790_000_000_000)
        #expect(try HistoryTime(argument: "1970-01-01T00:01:00Z").milliseconds == 60_000)
        for text in ["", "now", "-5"] {
            #expect(throws: ValidationError.self) { try HistoryTime(argument: text) }
        }
        let command: HistoryShowCommand = try parse("history", "lobby", "--before", "20", "--since", "10")
        #expect(command.channel == "lobby" && command.before?.milliseconds == 20 && command.count == 100)
        let own: HistoryShowCommand = try parse("history", "--user", "bob", "--count", "250")
        #expect(own.channel == nil && own.common.user == "bob" && own.count == 250)
        #expect(isRefused("history", "lobby", "--count", "0"))
        let publish: PublishCommand = try parse("publish", "lobby", "hi", "--history")
        #expect(publish.message.history)
    }

    // MARK: Output

    @Test("events are objects with the public names, and lines")
    func events() {
        let metadata = RTMMetadata(
            majorRevision: 9, items: [MetadataItem(key: "a", value: "1", revision: 8, author: "bob")])
        let storage = RTMEvent.metadata(
            MetadataEvent(
                kind: .update, target: .channel("lobby"), metadata: metadata, author: "bob",
                timestampMilliseconds: 5))
        #expect(
            storage.json.description
                == #"{"event":"storage","eventType":"update","storageType":"channel","channelType":"message","#
                + #""target":"lobby","data":{"majorRevision":9,"items":[{"key":"a","value":"1","revision":8,"#
                + #""updateTs":0,"authorUserId":"bob"}]},"publisher":"bob","timestamp":5,"#
                + #""time":"1970-01-01T00:00:00.005Z"}"#)
        let lock = RTMEvent.lock(
            LockEvent(
                kind: .acquired, channelType: .message, channelName: "lobby",
                locks: [LockDetail(name: "l", owner: "bob", ttl: .seconds(30), fencingToken: 4)],
                timestampMilliseconds: 5))
        #expect(
            lock.json.description
                == #"{"event":"lock","eventType":"acquired","channelType":"message","channelName":"lobby","#
                + #""lockDetailList":[{"lockName":"l","owner":"bob","ttl":30,"fencingToken":4}],"timestamp":5,"#
                + #""time":"1970-01-01T00:00:00.005Z"}"#
        )
        let transcript = Transcript(timeZone: .gmt, now: { Date(timeIntervalSince1970: 0) })
        #expect(
            transcript.line(for: storage)
                == "00:00:00 lobby metadata (major revision 9, written by bob)\n    a=1  (revision 8, by bob)"
        )
        #expect(transcript.line(for: lock) == "00:00:00 lobby lock acquired: l by bob")
    }

    @Test("a conflict is said with what is there now (D-5)")
    func conflict() {
        let error = RTMError(
            .storageOutdatedRevision, "no", operation: "setChannelMetadata",
            conflict: .init(majorRevision: 9, key: "a", revision: 8))
        #expect(
            error.json.description.hasSuffix(#","conflict":{"majorRevision":9,"key":"a","revision":8}}}"#))
    }

    @Test("control characters of strangers don't reach the terminal")
    func visible() {
        let item = MetadataItem(key: "a", value: "x\u{1B}[2Jy", revision: 1)
        #expect(!item.sentence.unicodeScalars.contains("\u{1B}"))
    }
}
