import CProtobufC
import Foundation
import RTMModel
import RTMProtocol
import SwiftProtobuf
import Testing

@testable import RTMWire

/// The compiler holds what Wire writes to the numbers and types of the schema. That no field is forgotten,
/// and what the compiler can't see, is held here.
@Suite("Fields of the schema")
struct WrittenFieldsTests {
    @Test("a message writes every field that the schema gives it", arguments: WrittenMessage.all)
    func everyField(_ message: WrittenMessage) throws {
        let row = try #require(SchemaMessage.all.first { $0.shortName == message.name })
        let read = try row.swift.init(serializedBytes: message.bytes)
        #expect(read.unknownFields.data.isEmpty)
        let written = try Self.numbers(in: message.bytes)
        let fields = try row.fields()
        let choices = fields.filter(\.isInOneof)
        for field in fields where !field.isInOneof {
            #expect(written.contains(field.id), "\(String(cString: field.name)) is not written")
        }
        #expect(choices.isEmpty || choices.contains { written.contains($0.id) })
    }

    /// These messages are written in one of two ways, or around a body that is only copied.
    private static let writtenInParts: Set<String> = [
        "PresenceEvent", "LockGrantedPush", "ServiceLinkFrame", "ServiceLinkRequest", "ServiceLinkResponse",
        "ServiceLinkPush", "ServiceLinkHeartbeat", "ServiceLinkHeartbeatAck", "JournalBatch",
    ]

    @Test("no message that a server writes is missing here")
    func completeness() throws {
        let byClients = try Self.messages(in: "rtm.client.ClientFrame")
        let byServers = try SchemaMessage.all.filter { $0.swift.protoMessageName.hasPrefix("rtm.service.") }
            .reduce(into: Self.messages(in: "rtm.client.ServerFrame")) { names, row in
                names.formUnion(try Self.messages(in: row.swift.protoMessageName))
            }
        #expect(byClients.subtracting(byServers).contains("WhoNow"))
        #expect(Set(WrittenMessage.all.map(\.name)).union(Self.writtenInParts) == byServers)
    }

    @Test("events of presence carry their states or their interval")
    func presenceEvents() throws {
        let item = StateItem(key: "k", value: "v")
        let states = PresenceEvent.statesChanged(StateChange(items: [item])).encoded
        #expect(try Self.numbers(in: states) == [1, 4])
        let interval = PresenceEvent.interval(PresenceInterval(joined: ["u"])).encoded
        #expect(try Self.numbers(in: interval) == [1, 3])
    }

    @Test("the end of a wait for a lock carries an answer or an error")
    func lockGranted() throws {
        let granted = "x".withWireText { LockGrantedPush(ticket: 1, response: $0).encoded }
        #expect(try Self.numbers(in: granted) == [1, 2])
        let refused = LockGrantedPush(ticket: 1, error: RTMError(.lockNotExist, "gone")).encoded
        #expect(try Self.numbers(in: refused) == [1, 3])
    }

    @Test("a call is known by the number of its field, and begins with what it is about")
    func calls() throws {
        let frame = try #require(SchemaMessage.all.first { $0.shortName == "ClientFrame" })
        let fields = try frame.fields()
        for kind in ClientCall.Kind.allCases {
            let field = try #require(fields.first { $0.id == kind.rawValue })
            #expect(SchemaMessage.swiftName(of: field) == "\(kind)")
            let message = try #require(SchemaMessage.nested(field))
            let names = message.prefix(2).map { String(cString: $0.name) }
            switch kind {
            case .whereNow: #expect(names == ["user_id"])
            case .writeMetadata, .getMetadata: #expect(names == ["channel_type", "target"])
            default: #expect(names == ["channel_type", "channel"])
            }
            #expect(message.prefix(2).map(\.id) == Array(1...UInt32(names.count)))
        }
    }

    // MARK: -

    private static func numbers(in bytes: [UInt8]) throws -> Set<UInt32> {
        try bytes.withUnsafeBytes { bytes in
            var scanner = ProtobufScanner(bytes)
            var numbers: Set<UInt32> = []
            while let field = try scanner.next() { numbers.insert(field.number) }
            return numbers
        }
    }

    /// The names of a message and of all messages that may stand in it.
    private static func messages(in name: String) throws -> Set<String> {
        let row = try #require(SchemaMessage.all.first { $0.swift.protoMessageName == name })
        var found: Set<String> = []
        var open = [try row.descriptor()]
        while let descriptor = open.popLast() {
            guard found.insert(String(cString: descriptor.pointee.short_name)).inserted else { continue }
            let fields = UnsafeBufferPointer(
                start: descriptor.pointee.fields, count: Int(descriptor.pointee.n_fields))
            for field in fields where field.type == PROTOBUF_C_TYPE_MESSAGE {
                guard let nested = field.descriptor else { continue }
                open.append(nested.assumingMemoryBound(to: ProtobufCMessageDescriptor.self))
            }
        }
        return found
    }
}

extension SchemaMessage {
    /// The message's name without its package.
    var shortName: String { String(swift.protoMessageName.split(separator: ".").last ?? "") }

    func fields() throws -> [ProtobufCFieldDescriptor] {
        let descriptor = try descriptor().pointee
        return Array(UnsafeBufferPointer(start: descriptor.fields, count: Int(descriptor.n_fields)))
    }

    /// The fields of the message in a field, in the order of their numbers.
    static func nested(_ field: ProtobufCFieldDescriptor) -> [ProtobufCFieldDescriptor]? {
        guard field.type == PROTOBUF_C_TYPE_MESSAGE,
            let descriptor = field.descriptor?.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
                .pointee
        else { return nil }
        return Array(UnsafeBufferPointer(start: descriptor.fields, count: Int(descriptor.n_fields)))
    }

    /// The field's name as Swift spells it.
    static func swiftName(of field: ProtobufCFieldDescriptor) -> String {
        let words = String(cString: field.name).split(separator: "_")
        return (words.first.map(String.init) ?? "") + words.dropFirst().map(\.capitalized).joined()
    }
}
