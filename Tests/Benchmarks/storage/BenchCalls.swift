import NIOCore
import RTMModel
import RTMWire

/// A call that a caller repeats. It may depend on the answer to the one before.
protocol BenchCall {
    var user: String { get }
    /// The one field of ClientFrame.body.
    func request() -> ByteBuffer
    mutating func answered(_ response: UnsafeRawBufferPointer)
    /// Whether the caller may stop after this call.
    var isComplete: Bool { get }
}

extension BenchCall {
    var user: String { "user" }
    mutating func answered(_ response: UnsafeRawBufferPointer) {}
    var isComplete: Bool { true }
}

/// A message that writes these fields in their order.
struct FieldList: WireMessage {
    enum Value {
        case number(UInt64)
        case text(String)
        case nested([(UInt32, Value)])
    }

    let fields: [(UInt32, Value)]

    func write(to sink: inout some FieldSink) {
        for (number, value) in fields {
            switch value {
            case .number(let value): sink.field(SchemaField(number), value)
            case .text(let value): sink.field(SchemaField(number), value)
            case .nested(let fields): sink.field(SchemaField(number), FieldList(fields: fields))
            }
        }
    }

    static func buffer(_ number: UInt32, _ fields: [(UInt32, Value)]) -> ByteBuffer {
        let message = FieldList(fields: [(number, .nested(fields))])
        var buffer = ByteBuffer()
        message.encode(into: &buffer, length: message.encodedLength)
        return buffer
    }
}

struct CompareAndSet: BenchCall {
    let channel: String
    private var revision: UInt64 = 0
    private let value = String(repeating: "v", count: 128)

    init(channel: String) { self.channel = channel }

    func request() -> ByteBuffer {
        FieldList.buffer(
            30,
            [
                (1, .number(1)), (2, .text(channel)),
                (4, .nested([(1, .text("price")), (2, .text(value))])), (5, .number(revision)),
            ])
    }

    mutating func answered(_ response: UnsafeRawBufferPointer) {
        var scanner = ProtobufScanner(response)
        guard let body = try? scanner.next()?.bytes else { return }
        var inner = ProtobufScanner(body)
        revision = (try? inner.next()?.uint64) ?? revision
    }
}

struct SetMetadata: BenchCall {
    let channel: String
    private static let value = String(repeating: "v", count: 128)

    func request() -> ByteBuffer {
        FieldList.buffer(
            30,
            [
                (1, .number(1)), (2, .text(channel)),
                (4, .nested([(1, .text("price")), (2, .text(Self.value))])),
            ])
    }
}

struct ReadMetadata: BenchCall {
    let channel: String

    func request() -> ByteBuffer { FieldList.buffer(31, [(1, .number(1)), (2, .text(channel))]) }
}

struct ReadHistory: BenchCall {
    let channel: String
    let start: UInt64

    func request() -> ByteBuffer {
        FieldList.buffer(50, [(1, .number(1)), (2, .text(channel)), (3, .number(100)), (4, .number(start))])
    }
}

/// Acquires a lock, waiting in the queue for it, and releases it, again and again.
struct LockBenchCall: BenchCall {
    let user: String
    private let field: UInt32
    private var holds = false

    private init(user: String, field: UInt32) {
        self.user = user
        self.field = field
    }

    static let set = LockBenchCall(user: "user", field: 40)
    static func acquire(user: String) -> LockBenchCall { LockBenchCall(user: user, field: 42) }

    func request() -> ByteBuffer {
        let place: [(UInt32, FieldList.Value)] = [(1, .number(1)), (2, .text("lobby")), (3, .text("lock"))]
        if field == 40 { return FieldList.buffer(40, place) }
        return holds ? FieldList.buffer(43, place) : FieldList.buffer(42, place + [(4, .number(1))])
    }

    var isComplete: Bool { !holds }

    mutating func answered(_ response: UnsafeRawBufferPointer) { if field == 42 { holds.toggle() } }
}
