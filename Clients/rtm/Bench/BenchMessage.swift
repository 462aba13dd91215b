import Foundation

/// A message of the bench: its lane, its number, and when it was sent. The rest of the payload is filling.
///
/// A lane sends one message at a time, so the order within a lane is defined. The order of calls that run at
/// the same time is not, so a publisher has as many lanes as messages on their way.
struct BenchMessage: Sendable, Hashable {
    static let bytesMin = 16

    var lane: UInt32
    /// The number of the message in its lane, beginning with 1.
    var sequence: UInt32
    /// When the message was sent, by a clock of this process.
    var sentNanoseconds: UInt64

    func payload(bytes: Int) -> Data {
        var data = Data(capacity: bytes)
        for part in [UInt64(lane) << 32 | UInt64(sequence), sentNanoseconds] {
            withUnsafeBytes(of: part.bigEndian) { data.append(contentsOf: $0) }
        }
        data.append(Data(repeating: 0x2E, count: max(0, bytes - Self.bytesMin)))
        return data
    }

    init(lane: UInt32, sequence: UInt32, sentNanoseconds: UInt64) {
        self.lane = lane
        self.sequence = sequence
        self.sentNanoseconds = sentNanoseconds
    }

    /// Returns nil for a payload that the bench hasn't written.
    init?(payload: Data) {
        guard payload.count >= Self.bytesMin else { return nil }
        let parts = payload.withUnsafeBytes { bytes in
            [0, 8].map { UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) }
        }
        lane = UInt32(truncatingIfNeeded: parts[0] >> 32)
        sequence = UInt32(truncatingIfNeeded: parts[0])
        sentNanoseconds = parts[1]
    }
}
