#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// How many descriptors the process may have: sockets, files and what the event loops need.
package enum DescriptorLimit {
    /// The present limit; nil if the system doesn't say.
    package static var present: Int? {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the limit to what the system allows the process without more rights. Most systems begin with
    /// 1,024, which is far less than a server may have.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        // Where it can't be raised, the limit stays what it was, and whoever asks finds that.
        _ = setrlimit(resource, &limit)
    }

    #if canImport(Glibc)
        private static var resource: __rlimit_resource_t { .init(RLIMIT_NOFILE.rawValue) }
    #else
        private static var resource: Int32 { RLIMIT_NOFILE }
    #endif
}
