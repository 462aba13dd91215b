import Foundation
import NIOCore
import RTMModel
import RTMTestSupport
import Testing

@testable import RTMWire

/// The bytes come from anybody. A decoder answers with a message or with a `WireError`, and nothing else
/// happens.
@Suite("Hostile bytes")
struct FuzzTests {
    /// A series is long enough to reach each branch; `make fuzz` goes on for longer.
    private static let rounds = 2_500

    @Test("random bytes, in two series of 2,500", arguments: 1...2 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let decoders = Decoders()
        for _ in 0..<Self.rounds { decoders.tryAll(random.bytes(upTo: 60)) }
        #expect(decoders.errors > Self.rounds)
    }

    @Test("damaged messages of every kind, in two series of 2,500", arguments: 1...2 as ClosedRange<UInt64>)
    func damaged(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let decoders = Decoders()
        let samples = try Self.samples()
        for _ in 0..<Self.rounds {
            var bytes = samples.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &random) { random.damage(&bytes) }
            decoders.tryAll(bytes)
        }
        #expect(decoders.errors > 1_000)
        #expect(decoders.messages > 1_000)
    }

    @Test("damaged streams of frames: frames come out, or the stream is refused")
    func damagedStreams() throws {
        var random = SeededGenerator(seed: 3)
        let samples = try Self.samples()
        var refusals = 0
        for _ in 0..<5000 {
            var stream = (0..<3).flatMap { _ in frame(samples.randomElement(using: &random) ?? []) }
            random.damage(&stream)
            var reader = FrameReader(frameBytesMax: 4096)
            do {
                try reader.read(ByteBuffer(bytes: stream)) { frame in
                    #expect(frame.count <= 4096)
                    return .nextFrame
                }
            } catch { refusals += 1 }
        }
        #expect(refusals > 100)
    }

    @Test("no decoder is left out, here and in the fuzzed targets")
    func everyDecoder() throws {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let declared = #/extension (?<name>[\w.]+): (?:Arena|Scan)Decodable/#
        let decoders = Set(
            try Self.text(of: root.appending(path: "Shared/Wire")).matches(of: declared)
                .map { String($0.output.name) })
        #expect(decoders.count > 30)
        let here = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let targets = try Self.text(of: root.appending(path: "Tests/Fuzz/Targets"))
        for decoder in decoders {
            let use = decoder + #"(\.self|\(scanning:|\()"#
            let isUsed = try [here, targets].map { text in
                try text.firstMatch(of: Regex("\\b" + use)) != nil
            }
            #expect(isUsed == [true, true], "\(decoder)")
        }
    }

    private static func text(of folder: URL) throws -> String {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
            .joined(separator: "\n")
    }

    private static func samples() throws -> [[UInt8]] {
        try SchemaMessage.all.flatMap { message in
            try (0..<12 as Range<UInt64>).map { seed in
                var sample = SchemaSample(
                    generator: SeededGenerator(seed: seed), filling: .full(choice: Int(seed)))
                let descriptor = try message.descriptor()
                let bytes = sample.bytes(descriptor)
                return seed < 10 ? bytes : bytes.addingUnknownFields(descriptor)
            }
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func damage(_ bytes: inout [UInt8]) {
        let index = Int.random(in: 0...bytes.count, using: &self)
        let byte = UInt8.random(in: 0...255, using: &self)
        switch Int.random(in: 0..<6, using: &self) {
        case 0: bytes.removeLast(bytes.count - index)
        case 1: bytes.insert(byte, at: index)
        case 2: bytes.insert(contentsOf: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF], at: index)
        case 3 where index < bytes.count: bytes[index] = byte
        case 4 where index < bytes.count: bytes[index] ^= 1 << (byte & 7)
        case 5 where index < bytes.count: bytes.remove(at: index)
        default: bytes += bytes[..<index]
        }
    }
}

/// Runs every decoder over one arena, as an event loop does.
private final class Decoders {
    private let arena = DecodeArena(capacity: 512)
    private(set) var errors = 0
    private(set) var messages = 0

    func tryAll(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            attempt { () throws(WireError) in try ClientRequest(bytes, in: arena).touch() }
            attempt { () throws(WireError) in try StorageRequest(scanning: bytes) }
            attempt { () throws(WireError) in try ServiceLinkEnvelope(decoding: bytes) }
            attempt { () throws(WireError) in try RTMError(scanning: bytes) }
            link(bytes)
            messaging(bytes)
            presence(bytes)
            storage(bytes)
        }
    }

    private func link(_ bytes: UnsafeRawBufferPointer) {
        scan(ServiceLinkHello.self, bytes)
        scan(ServiceLinkChallenge.self, bytes)
        scan(ServiceLinkProof.self, bytes)
        scan(ServiceLinkWelcome.self, bytes)
        scan(ServiceLinkTrace.self, bytes)
        scan(ServiceLinkGoAway.self, bytes)
    }

    private func messaging(_ bytes: UnsafeRawBufferPointer) {
        unpack(AttachRequest.self, bytes)
        unpack(AttachResponse.self, bytes)
        unpack(DetachPush.self, bytes)
        unpack(SkipPush.self, bytes)
        unpack(SupersededPush.self, bytes)
        unpack(ReadRequest.self, bytes)
        unpack(ReadResponse.self, bytes) { $0.frames.touch() }
        unpack(FeedRequest.self, bytes)
        unpack(FeedResponse.self, bytes) { $0.frames.touch() }
        unpack(AppendResponse.self, bytes)
        scan(AppendRequest.self, bytes) { for event in $0.events { event.event.touch() } }
        scan(AppendedEvent.self, bytes) { $0.publisher.touch() }
        scan(ClientRequest.Publish.self, bytes) { $0.message.touch() }
        scan(PublishRequest.self, bytes) { for message in $0.messages { message.touch() } }
        scan(MessageView.self, bytes) { $0.touch() }
        scan(PublishResponse.self, bytes)
        scan(BackendPublishRequest.self, bytes) { for message in $0.publish.messages { message.touch() } }
        scan(PublishCondition.self, bytes)
        scan(StreamPosition.self, bytes)
        unpack(BackendPublishResponse.self, bytes)
        unpack(ListRequest.self, bytes)
        unpack(ListResponse.self, bytes)
        unpack(ExplainRequest.self, bytes)
        unpack(ExplainResponse.self, bytes)
        scan(PublishedEntry.self, bytes)
        scan(DeliveryPush.self, bytes) { $0.frames.touch() }
        unpack(LeaderPush.self, bytes)
        unpack(NodesPush.self, bytes)
        scan(JournaledEntries.self, bytes) { $0.frames.touch() }
        scan(JournaledChannel.self, bytes)
        scan(JournaledOwnership.self, bytes)
        scan(JournaledHeads.self, bytes)
        scan(JournaledHead.self, bytes)
        scan(JournaledVersion.self, bytes)
        attempt { () throws(WireError) in try JournalBatch.read(bytes) { _ in } }
    }

    private func presence(_ bytes: UnsafeRawBufferPointer) {
        unpack(CallRequest.self, bytes) { $0.request.touch() }
        unpack(CallResponse.self, bytes) { $0.response.touch() }
        unpack(PresenceCall.self, bytes) { $0.touch() }
        unpack(JoinRequest.self, bytes)
        unpack(JoinResponse.self, bytes) { $0.frames.touch() }
        unpack(RosterRequest.self, bytes)
        unpack(RosterResponse.self, bytes)
        unpack(LeavePush.self, bytes)
        unpack(SessionEndedPush.self, bytes)
        unpack(LeaseRequest.self, bytes)
        unpack(LeaseResponse.self, bytes)
        unpack(SyncRequest.self, bytes)
        unpack(SyncResponse.self, bytes)
    }

    private func storage(_ bytes: UnsafeRawBufferPointer) {
        unpack(AppendHistoryRequest.self, bytes) { $0.message.touch() }
        unpack(StorageCallResponse.self, bytes) { $0.response.touch() }
        scan(LockGrantedPush.self, bytes) { $0.response.touch() }
        unpack(SnapshotRequest.self, bytes)
        unpack(SnapshotResponse.self, bytes) { $0.frames.touch() }
        unpack(SessionPush.self, bytes)
        unpack(Ban.self, bytes)
        unpack(BanReport.self, bytes)
        unpack(BanOutcome.self, bytes)
        unpack(BansRequest.self, bytes)
        unpack(BansResponse.self, bytes)
        unpack(EdgeQuestion.self, bytes) { $0.query.touch() }
        unpack(EdgeAnswer.self, bytes) { $0.findings.touch() }
        unpack(EdgeAnswers.self, bytes) { for answer in $0.answers { answer.findings.touch() } }
        unpack(EdgeQuery.self, bytes)
        unpack(EdgeFindings.self, bytes)
        unpack(PurgeHistoryRequest.self, bytes)
        unpack(PurgeHistoryResponse.self, bytes)
        unpack(EventGap.self, bytes)
        unpack(EventsRequest.self, bytes)
        unpack(EventsResponse.self, bytes)
        unpack(ClaimReader.self, bytes)
        unpack(ReaderClaimed.self, bytes)
        unpack(KeepReader.self, bytes)
        unpack(ReaderKept.self, bytes)
        unpack(MoveReader.self, bytes)
        unpack(ReaderMoved.self, bytes)
        unpack(ReadersRequest.self, bytes)
        unpack(ReadersResponse.self, bytes)
        unpack(DeadLettersRequest.self, bytes)
        unpack(KeepAudit.self, bytes)
        unpack(AuditRequest.self, bytes)
        unpack(AuditResponse.self, bytes)
        unpack(DeadLettersResponse.self, bytes)
        scan(WriteMetadata.self, bytes)
        scan(MetadataTarget.self, bytes)
        scan(MetadataItem.self, bytes)
        scan(LockPlace.self, bytes)
        scan(GetHistory.self, bytes)
    }

    private func unpack<Message: ArenaDecodable>(
        _ type: Message.Type, _ bytes: UnsafeRawBufferPointer, touch: (Message) -> Void = { _ in }
    ) {
        attempt { () throws(WireError) in touch(try Message(bytes, in: arena)) }
    }

    private func scan<Message: ScanDecodable>(
        _ type: Message.Type, _ bytes: UnsafeRawBufferPointer, touch: (Message) -> Void = { _ in }
    ) {
        attempt { () throws(WireError) in touch(try Message(scanning: bytes)) }
    }

    private func attempt<Result>(_ decode: () throws(WireError) -> Result) {
        do throws(WireError) {
            _ = try decode()
            messages += 1
        } catch {
            errors += 1
        }
    }
}

// Views into memory that isn't there would only be noticed when they are read.

extension WireText {
    fileprivate func touch() { _ = bytes.reduce(0) { $0 &+ Int($1) } }
}

extension MessageView {
    fileprivate func touch() {
        payload.touch()
        customType.touch()
    }
}

extension ClientRequest {
    fileprivate func touch() {
        switch body {
        case .hello(let hello): hello.client.touch()
        case .login(let login): for text in [login.appID, login.userID, login.token] { text.touch() }
        case .subscribe(let subscribe):
            for text in [subscribe.channel, subscribe.token] + subscribe.publishers { text.touch() }
        case .unsubscribe(let unsubscribe): unsubscribe.channel.touch()
        case .renewToken(let renewal): for text in [renewal.token, renewal.channel] { text.touch() }
        case .publish(let publish):
            publish.channel.touch()
            publish.message.touch()
        case .call(let call):
            call.request.touch()
            call.target.touch()
        case .subscribeUserMetadata(let subscribe): subscribe.userID.touch()
        case .unsubscribeUserMetadata(let userID): userID.touch()
        case .logout, .heartbeat, .unknown: break
        }
    }
}

extension PresenceCall {
    fileprivate func touch() {
        switch self {
        case .whoNow(let request): for text in [request.channel.name, request.page] { text.touch() }
        case .whereNow(let user): user.touch()
        case .setState(let channel, let items):
            channel.name.touch()
            for item in items { for text in [item.key, item.value] { text.touch() } }
        case .getState(let channel, let user): for text in [channel.name, user] { text.touch() }
        case .removeState(let channel, let keys): for text in [channel.name] + keys { text.touch() }
        case .unknown: break
        }
    }
}
