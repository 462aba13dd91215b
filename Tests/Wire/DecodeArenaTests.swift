import CProtobufC
import Foundation
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMWire

@Suite("The decoder's memory")
struct DecodeArenaTests {
    @Test("allocations are aligned, apart from one another, and begin again after a reset")
    func block() throws {
        let arena = DecodeArena(capacity: 1024)
        var firstRound: [UInt] = []
        for _ in 0..<3 {
            arena.reset()
            var ranges: [Range<UInt>] = []
            for size in [1, 16, 17, 0, 100, 31] { ranges.append(try arena.allocate(size)) }
            #expect(ranges.allSatisfy { $0.lowerBound.isMultiple(of: 16) })
            for (one, next) in zip(ranges, ranges.dropFirst()) { #expect(one.upperBound <= next.lowerBound) }
            if firstRound.isEmpty { firstRound = ranges.map(\.lowerBound) }
            #expect(ranges.map(\.lowerBound) == firstRound)
        }
    }

    @Test("the block is used to its last byte, and what doesn't fit gets memory of its own")
    func overflow() throws {
        let arena = DecodeArena(capacity: 256)
        let start = try arena.allocate(64).lowerBound
        let block = start..<start + 256
        #expect(block.contains(try arena.allocate(192).lowerBound))
        var singles: [Range<UInt>] = []
        for size in [1, 300, 64] { singles.append(try arena.allocate(size)) }
        for (index, single) in singles.enumerated() {
            #expect(!block.overlaps(single))
            #expect(single.lowerBound.isMultiple(of: 16))
            #expect(singles.indices.allSatisfy { $0 == index || !singles[$0].overlaps(single) })
        }
        arena.reset()
        #expect(try arena.allocate(1).lowerBound == start)
    }

    @Test(
        "a frame of empty messages, which decodes into seventy times its size, is refused; the next one isn't"
    )
    func bomb() throws {
        // Field 8 of ClientFrame, a publish of length 0, over and over.
        let bomb = [UInt8]((0..<32_768).flatMap { _ in [0x42, 0x00] as [UInt8] })
        let publish = try Self.publish(SeededGenerator.payload(30_000))
        let arena = DecodeArena(bytesMax: 256 * 1024)
        for _ in 0..<3 {
            let refusal = #expect(throws: WireError.self) {
                try bomb.withUnsafeBytes { _ = try ClientRequest($0, in: arena) }
            }
            #expect(refusal == .undecodable)
            try publish.withUnsafeBytes { _ = try ClientRequest($0, in: arena) }
        }
    }

    @Test("a large message doesn't take the rest of the block away from small ones")
    func smallAfterLarge() throws {
        let arena = DecodeArena(capacity: 256)
        let start = try arena.allocate(16).lowerBound
        let large = try arena.allocate(1000)
        let small = try arena.allocate(16)
        #expect(!large.contains(start))
        #expect(small.lowerBound == start + 16)
    }

    @Test("a message larger than the block is decoded whole")
    func largeMessage() throws {
        let payload = SeededGenerator.payload(30_000)
        let bytes = try Self.publish(payload)
        let arena = DecodeArena(capacity: 64)
        for _ in 0..<3 {
            try bytes.withUnsafeBytes {
                guard case .publish(let publish) = try ClientRequest($0, in: arena).body else {
                    return #expect(Bool(false), "not a publish")
                }
                #expect(publish.message.payload.copied == payload)
                #expect(publish.channel.string == "lobby")
            }
        }
    }

    @Test(
        "10,000 decodes beyond the block leave no memory behind",
        .enabled(if: ResidentMemory.isKnown, "this system has no /proc, where a process can read its memory"))
    func growth() throws {
        let bytes = try Self.publish(SeededGenerator.payload(60_000))
        let arena = DecodeArena(capacity: 1024)
        let before = try ResidentMemory.bytes()
        for _ in 0..<10_000 {
            try bytes.withUnsafeBytes { _ = try ClientRequest($0, in: arena) }
        }
        // They aren't kept, because they would be 600 MB and other tests run beside this one.
        #expect(try ResidentMemory.bytes() - before < 250_000_000)
    }

    @Test("a decode that fails halfway leaves an arena that works")
    func failure() throws {
        let arena = DecodeArena(capacity: 128)
        let bytes = try Self.publish(SeededGenerator.payload(500))
        for length in 0..<bytes.count {
            bytes.prefix(length).withUnsafeBytes { _ = try? ClientRequest($0, in: arena) }
        }
        let id = try bytes.withUnsafeBytes { try ClientRequest($0, in: arena).id }
        #expect(id == 9)
    }

    private static func publish(_ payload: [UInt8]) throws -> [UInt8] {
        try Rtm_Client_ClientFrame.with {
            $0.requestID = 9
            $0.publish = .with { ($0.channel, $0.payload) = ("lobby", Data(payload)) }
        }.serializedBytes()
    }
}

extension DecodeArena {
    /// What protobuf-c does.
    fileprivate func allocate(_ size: Int) throws -> Range<UInt> {
        let memory = try #require(allocator.pointee.alloc(allocator.pointee.allocator_data, size))
        memset(memory, 0xEE, size)
        let start = UInt(bitPattern: memory)
        return start..<start + UInt(size)
    }
}

extension SeededGenerator {
    fileprivate static func payload(_ count: Int) -> [UInt8] {
        var random = SeededGenerator(seed: UInt64(count))
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
}

private enum ResidentMemory {
    private static let file = "/proc/self/statm"

    static let isKnown = FileManager.default.isReadableFile(atPath: file)

    static func bytes() throws -> Int {
        let fields = try String(contentsOfFile: file, encoding: .ascii).split(separator: " ")
        let pages = try #require(fields.count > 1 ? Int(fields[1]) : nil)
        return pages * Int(getpagesize())
    }
}
