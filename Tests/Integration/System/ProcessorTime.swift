import Foundation
import RTMTestSupport
import Testing

/// What processes have cost so far, and what they cost while somebody watches.
enum ProcessorTime {
    /// Processor time in seconds: the fields 14 and 15 of the process's status, in hundredths.
    static func of(_ pid: Int32) throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        let fields = status.split(separator: ")").last?.split(separator: " ").compactMap { Double($0) } ?? []
        // The state, which is the first field behind the name, is no number.
        try #require(fields.count > 12)
        return (fields[10] + fields[11]) / 100
    }

    /// The seconds of processor time of each of the processes in the next seconds.
    static func of(_ pids: [Int32], during time: Duration) async throws -> [Double] {
        let before = try pids.map { try of($0) }
        await letPass(time)
        return try zip(pids, before).map { try of($0) - $1 }
    }
}
