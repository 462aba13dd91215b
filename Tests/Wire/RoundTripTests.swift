import CProtobufC
import Foundation
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMWire

/// One schema, two codecs: the services speak it with protobuf-c, the client library with SwiftProtobuf. What
/// one of them writes, the other reads and writes again without a difference.
@Suite("Both codecs")
struct RoundTripTests {
    @Test("a full message goes through the C codec and comes back equal", arguments: SchemaMessage.all)
    func full(_ message: SchemaMessage) throws {
        // No message has a `oneof` of more than 32 members.
        for choice in 0..<32 {
            let generator = SeededGenerator(seed: UInt64(choice))
            var sample = SchemaSample(generator: generator, filling: .full(choice: choice))
            try check(message, sample.bytes(message.descriptor()), "choice \(choice)")
        }
    }

    @Test("random messages go through the C codec and come back equal", arguments: SchemaMessage.all)
    func random(_ message: SchemaMessage) throws {
        for seed in 0..<200 as Range<UInt64> {
            var sample = SchemaSample(generator: SeededGenerator(seed: seed), filling: .random)
            try check(message, sample.bytes(message.descriptor()), "seed \(seed)")
        }
    }

    @Test("fields of a newer schema survive the C codec, at every depth", arguments: SchemaMessage.all)
    func unknownFields(_ message: SchemaMessage) throws {
        for seed in 0..<30 as Range<UInt64> {
            let descriptor = try message.descriptor()
            var sample = SchemaSample(
                generator: SeededGenerator(seed: seed), filling: .full(choice: Int(seed)))
            let bytes = sample.bytes(descriptor).addingUnknownFields(descriptor)
            let parsed = try message.swift.init(serializedBytes: bytes)
            #expect(!parsed.unknownFields.data.isEmpty)
            try check(message, bytes, "seed \(seed)", knowsAll: false)
        }
    }

    @Test("no message of the schema is missing in these tests, and no sample field in the Swift codec")
    func completeness() throws {
        let listed = SchemaMessage.all.map { $0.swift.protoMessageName }
        #expect(Set(listed).count == listed.count, "a message is listed twice")
        #expect(try Set(listed) == Self.messagesOfSchema())
        for message in SchemaMessage.all {
            let name = try String(cString: message.descriptor().pointee.name)
            #expect(
                name == message.swift.protoMessageName, "the two codecs of a row are of different messages")
        }
    }

    /// - Parameter knowsAll: the bytes have only fields of the schema.
    private func check(
        _ row: SchemaMessage, _ bytes: [UInt8], _ what: String, knowsAll: Bool = true
    ) throws {
        let arena = DecodeArena(capacity: 512)
        let message = try row.swift.init(serializedBytes: bytes)
        if knowsAll { #expect(message.unknownFields.data.isEmpty, "\(what)") }
        let written: [UInt8] = try message.serializedBytes()
        for allocator in [nil, arena.allocator] {
            let returned = try row.throughC(written, allocator)
            let parsed = try row.swift.init(serializedBytes: returned)
            #expect(parsed.isEqualTo(message: message), "\(what)")
            #expect(returned == written, "the codecs write the same message differently, \(what)")
        }
    }

    private static func messagesOfSchema() throws -> Set<String> {
        let schema = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "protocol/schema")
        let files = try #require(FileManager.default.enumerator(at: schema, includingPropertiesForKeys: nil))
        var names: Set<String> = []
        var count = 0
        for case let file as URL in files where file.pathExtension == "proto" {
            let text = try String(contentsOf: file, encoding: .utf8)
            let package = try #require(text.firstMatch(of: #/\npackage ([\w.]+);/#)).1
            count += 1
            for match in text.matches(of: #/(?:^|\n)\s*message (\w+)/#) {
                names.insert("\(package).\(match.1)")
            }
        }
        #expect(count >= 8, "the schema's files were not found")
        return names
    }
}
