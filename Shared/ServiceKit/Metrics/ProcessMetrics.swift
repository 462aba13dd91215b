#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The metrics that every Prometheus dashboard expects of a process, and which build it is.
///
/// The names without `rtm_` are a convention of Prometheus. Memory and descriptors come from /proc and are
/// left out where there is none.
enum ProcessMetrics {
    static func declare(in registry: MetricsRegistry, program: String) {
        let labels = [
            ("program", program), ("version", BuildInformation.version), ("commit", BuildInformation.commit),
        ]
        registry.observed(
            "rtm_build_info", "Always 1; the labels say which program, version and commit runs.", .gauge,
            labels: labels.map { .init(name: $0.0, value: $0.1) }
        ) { 1 }
        let start = secondsSince1970()
        registry.observed(
            "process_start_time_seconds",
            "When the process began, in seconds since 1970; a change is a restart.",
            .gauge
        ) { start }
        registry.observed(
            "process_cpu_seconds_total", "Processor time of all threads, user and system.", .counter,
            processorSeconds)
        registry.observed(
            "process_resident_memory_bytes",
            "Memory in use; if it never levels off under steady load, there is a leak.",
            .gauge, residentBytes)
        registry.observed(
            "process_open_fds", "Open file descriptors; compare with the limit of the process.", .gauge,
            openDescriptors)
        registry.observed(
            "process_max_fds", "How many file descriptors the process may have at most.", .gauge
        ) { DescriptorLimit.present.map(Double.init) }
        registry.observed(
            "rtm_log_lines_dropped_total",
            "Lines of the log that were dropped because nobody read them. Should be 0.", .counter
        ) { Double(LogOutput.process.droppedCount) }
    }

    private static func secondsSince1970() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec / 1_000_000) / 1_000
    }

    private static func processorSeconds() -> Double? {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return nil }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The second number of /proc/self/statm counts resident pages.
    private static func residentBytes() -> Double? {
        guard let text = try? TextFile.read("/proc/self/statm") else { return nil }
        let numbers = text.split(separator: " ")
        guard numbers.count > 1, let pages = Int(numbers[1]) else { return nil }
        return Double(pages * Int(sysconf(Int32(_SC_PAGESIZE))))
    }

    private static func openDescriptors() -> Double? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // Without ".", ".." and the descriptor with which this directory is read.
        return Double(count - 3)
    }
}
