import Foundation
import RTMClient

/// The processor time that other processes have used.
enum ProcessTime {
    /// The time of all these processes together, in seconds.
    ///
    /// - Throws: `.invalidParameter` (-10014) when one of them doesn't run here, or the system has no /proc.
    static func seconds(of processes: [Int32]) throws(RTMError) -> Double {
        var ticks: UInt64 = 0
        for process in processes {
            guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                let used = Self.ticks(stat: stat)
            else {
                throw RTMError(
                    .invalidParameter, "the processor time of process \(process) can't be read",
                    operation: "bench")
            }
            ticks += used
        }
        return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The sum of utime and stime, the 14th and 15th field of proc(5). The second field is the name of the
    /// program in parentheses, which may contain any character.
    static func ticks(stat: String) -> UInt64? {
        guard let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = UInt64(fields[11]), let system = UInt64(fields[12]) else {
            return nil
        }
        return user + system
    }
}
