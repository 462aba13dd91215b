import RTMServiceKit

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The memory of the machine, as far as this process may use it.
enum MachineMemory {
    /// In bytes: what the machine has, or what its control group allows if that is less.
    static var bytes: Int {
        let machine = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        let limits = [
            "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        ].compactMap { path in
            (try? TextFile.read(path)).flatMap { Int($0.prefix { $0.isNumber }) }
        }
        return limits.reduce(machine, min)
    }

    /// Gives freed memory back to the system. Other threads that allocate meanwhile may wait, so it is called
    /// rarely.
    static func release() { _ = allocatorTrim?(0) }

    /// `malloc_trim` of glibc, which its module for Swift leaves out. Other C libraries don't have it, and
    /// don't keep much either.
    private static let allocatorTrim: (@convention(c) (Int) -> CInt)? = {
        guard let trim = dlsym(nil, "malloc_trim") else { return nil }
        return unsafeBitCast(trim, to: (@convention(c) (Int) -> CInt).self)
    }()
}

/// Decides when freed memory goes back to the system: after much of it was freed at once, for example when a
/// flood is over. The allocator keeps what a load that lasts frees and takes again.
///
/// Pure.
struct MemoryPeak {
    /// Limit: bytes that may stay with the allocator.
    static let releaseMin = 64 << 20
    /// Limit: milliseconds from one release to the next.
    static let interval: UInt64 = 10_000

    private var peak = 0
    private var nextRelease: UInt64 = 0

    /// Whether to release, now that the process holds so many bytes.
    mutating func shouldRelease(held: Int, now: UInt64) -> Bool {
        peak = max(peak, held)
        guard peak - held >= max(Self.releaseMin, peak / 4), now >= nextRelease else { return false }
        peak = held
        nextRelease = now + Self.interval
        return true
    }
}
