package import NIOCore
package import RTMRedis

/// A Redis of a test's own making: a value that keeps what the scripts of messaging keep, tells time as it is
/// told, and can be copied, emptied and set back. It knows the few commands that they and their client need.
/// `JournalScriptTests` holds it against a real server.
package struct SimulatedRedis {
    enum Value {
        case hash([String: String])
        case stream([(number: UInt64, bytes: [UInt8])])
    }

    /// Another one after each start.
    private var run: String
    /// When that was, in milliseconds.
    private var startedAt: UInt64 = 0
    /// The id of the history that it writes: another one after each start, and after each promotion of a
    /// replica.
    private var replication: String
    /// That of the master whose replica it was.
    private var replicationBefore = "0"
    private var promotions = 0
    /// So many batches stay in a stream that could be cut off: `MINID ~` cuts when that is cheap.
    package var uncutMax = 0
    /// In milliseconds.
    private(set) var now: UInt64 = 0
    var values: [String: Value] = [:]
    /// By text: the names of all scripts that it can run.
    private let names: [String: String]
    private var loaded: Set<String> = []

    package init(run: String, scripts: [RedisScript]) {
        self.run = run
        replication = "history/\(run)"
        names = Dictionary(uniqueKeysWithValues: scripts.map { ($0.source, $0.name) })
    }

    /// Another process continues with these data.
    package mutating func restart(as run: String) {
        self.run = run
        (startedAt, replication, replicationBefore) = (now, "history/\(run)", "0")
        loaded = []
    }

    /// It was a replica of this server, has these data of it, and is the master from now on. The process
    /// stays.
    package mutating func takeOver(from master: SimulatedRedis) {
        promotions += 1
        values = master.values
        (replicationBefore, replication) = (master.replication, "history/\(run)/\(promotions)")
    }

    package mutating func empty() { values = [:] }

    /// The fields of a hash.
    package subscript(key: String) -> [String: String] {
        if case .hash(let fields) = values[key] { fields } else { [:] }
    }

    // MARK: - Commands

    package mutating func answer(_ words: [[UInt8]], now: UInt64) -> RedisReply {
        self.now = now
        let texts = words.map { String(decoding: $0, as: UTF8.self) }
        switch (texts.first?.uppercased() ?? "", texts.count) {
        case ("PING", 1): return .text("PONG")
        case ("INFO", 2): return .text(facts(texts[1]))
        case ("SCRIPT", 3): return load(texts[2])
        case ("EVALSHA", 3...):
            guard loaded.contains(texts[1]) else {
                return .error("NOSCRIPT No matching script. Please use EVAL.")
            }
            return evaluate(texts[1], words, texts)
        case ("EVAL", 3...):
            guard let name = names[texts[1]] else { return .error("ERR an unknown script") }
            return evaluate(name, words, texts)
        case ("EXISTS", 2): return .integer(values[texts[1]] == nil ? 0 : 1)
        case ("HSET", 4):
            let isNew = get(texts[1], texts[2]) == nil
            set(texts[1], [texts[2]: texts[3]])
            return .integer(isNew ? 1 : 0)
        case ("FLUSHALL", 1):
            empty()
            return .text("OK")
        case ("XRANGE", 6): return range(texts)
        default: return .error("ERR unknown command '\(texts.first ?? "")'")
        }
    }

    package func facts(_ part: String) -> String {
        switch part {
        case "server":
            "run_id:\(run)\r\nredis_mode:standalone\r\nserver_time_usec:\(now * 1_000)\r\n"
                + "uptime_in_seconds:\((now - min(now, startedAt)) / 1_000)\r\n"
        case "replication":
            "role:master\r\nmaster_replid:\(replication)\r\nmaster_replid2:\(replicationBefore)\r\n"
        default: "maxmemory_policy:noeviction\r\n"
        }
    }

    /// Its name is the hash of a script.
    private mutating func load(_ source: String) -> RedisReply {
        guard let name = names[source] else { return .error("ERR an unknown script") }
        loaded.insert(name)
        return .text(name)
    }

    private mutating func evaluate(_ name: String, _ words: [[UInt8]], _ texts: [String]) -> RedisReply {
        guard let count = Int(texts[2]), words.count >= 3 + count else { return .error("ERR no keys") }
        let call = ScriptCall(keys: Array(texts[3..<3 + count]), arguments: Array(words[(3 + count)...]))
        return execute(name, call)
    }

    private func range(_ texts: [String]) -> RedisReply {
        guard let after = UInt64(texts[2].dropFirst().prefix { $0 != "-" }), let count = Int(texts[5]) else {
            return .error("ERR Invalid stream ID specified as stream command argument")
        }
        let batches = stream(texts[1]).filter { $0.number > after }.prefix(count)
        return .array(
            batches.map { .array([.text("\($0.number)-0"), .array([.text("b"), .string($0.bytes)])]) })
    }

    // MARK: - Values

    /// Nil if there is no such field.
    func get(_ key: String, _ field: String) -> String? { self[key][field] }

    mutating func set(_ key: String, _ fields: [String: String]) {
        values[key] = .hash(self[key].merging(fields) { $1 })
    }

    func stream(_ key: String) -> [(number: UInt64, bytes: [UInt8])] {
        if case .stream(let batches) = values[key] { batches } else { [] }
    }

    /// Who changes it and puts it back copies nothing.
    mutating func removeStream(_ key: String) -> [(number: UInt64, bytes: [UInt8])] {
        if case .stream(let batches) = values.removeValue(forKey: key) { batches } else { [] }
    }
}

/// One run of a script.
struct ScriptCall {
    let keys: [String]
    let arguments: [[UInt8]]

    /// Counted from 1, as in Lua.
    subscript(number: Int) -> String { String(decoding: arguments[number - 1], as: UTF8.self) }

    func number(_ number: Int) -> UInt64 { UInt64(self[number]) ?? 0 }
}

extension RedisReply {
    package static func text(_ text: String) -> RedisReply { .string(Array(text.utf8)) }

    static func texts(_ texts: String...) -> RedisReply { .array(texts.map { .text($0) }) }

    /// Writes the reply as a server does (RESP2).
    package func encode(into buffer: inout ByteBuffer) {
        switch self {
        case .string(let bytes):
            buffer.writeString("$\(bytes.count)\r\n")
            buffer.writeBytes(bytes)
            buffer.writeString("\r\n")
        case .integer(let number): buffer.writeString(":\(number)\r\n")
        case .array(let elements):
            buffer.writeString("*\(elements.count)\r\n")
            for element in elements { element.encode(into: &buffer) }
        case .null: buffer.writeString("$-1\r\n")
        case .error(let text): buffer.writeString("-\(text)\r\n")
        }
    }
}

/// Turns the bytes of clients into the words of their commands.
package struct RedisWords {
    private var bytes = ByteBuffer()

    package init() {}

    package mutating func feed(_ more: ByteBuffer) { bytes.writeImmutableBuffer(more) }

    /// Nil if the next command isn't there as a whole.
    package mutating func next() -> [[UInt8]]? {
        var rest = bytes
        guard let count = Self.number(behind: "*", &rest) else { return nil }
        var words: [[UInt8]] = []
        for _ in 0..<count {
            guard let length = Self.number(behind: "$", &rest), let word = rest.readBytes(length: length),
                rest.readBytes(length: 2) != nil
            else { return nil }
            words.append(word)
        }
        bytes = rest
        if bytes.readableBytes == 0 { bytes = ByteBuffer() }
        return words
    }

    private static func number(behind mark: String, _ bytes: inout ByteBuffer) -> Int? {
        guard let end = bytes.readableBytesView.firstIndex(of: UInt8(ascii: "\r")),
            let line = bytes.readString(length: end - bytes.readerIndex), bytes.readBytes(length: 2) != nil,
            line.hasPrefix(mark)
        else { return nil }
        return Int(line.dropFirst())
    }
}
