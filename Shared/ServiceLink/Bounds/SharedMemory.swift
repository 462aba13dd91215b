package import RTMModel
import Synchronization

/// Memory that the apps share while it is in use: that of bodies under way at a gateway, or that of pages
/// that were asked for.
package final class SharedMemory: Sendable {
    private let name: String
    private let shares: Mutex<ByteShares>

    /// - Parameter name: that of the limit.
    package init(_ name: String, bytesMax: Int) {
        self.name = name
        shares = Mutex(ByteShares(bytesMax: bytesMax))
    }

    /// What one request holds of it, and gives back at its end.
    package final class Share: Sendable {
        private let memory: SharedMemory
        private let (app, caller): (String, String)
        private let bytes = Mutex(0)

        fileprivate init(of memory: SharedMemory, _ app: String, _ caller: String) {
            (self.memory, self.app, self.caller) = (memory, app, caller)
        }

        deinit { settle(0) }

        /// Takes more.
        ///
        /// - Throws: `.operationRateExceedLimitation` (-10021) if the app or the caller has its share.
        package func grow(by count: Int) throws(RTMError) {
            let isThere = memory.shares.withLock { $0.take(count, of: app, by: caller) }
            guard isThere else { throw memory.refusal }
            bytes.withLock { $0 += count }
        }

        /// No more than so many bytes are needed any longer.
        package func settle(_ count: Int) {
            let rest = bytes.withLock { bytes in
                defer { bytes = min(bytes, count) }
                return bytes - min(bytes, count)
            }
            memory.shares.withLock { $0.giveBack(rest, of: app, by: caller) }
        }
    }

    package func share(of app: String, by caller: String) -> Share { Share(of: self, app, caller) }

    /// - Returns: a share of so many bytes; nil if the app or the caller has its share.
    package func share(of app: String, by caller: String, bytes: Int) -> Share? {
        let share = share(of: app, by: caller)
        do throws(RTMError) { try share.grow(by: bytes) } catch { return nil }
        return share
    }

    package var bytes: Int { shares.withLock { $0.bytes } }

    package var refusal: RTMError {
        let bytesMax = shares.withLock { $0.bytesMax }
        return RTMError(
            .operationRateExceedLimitation,
            "requests under way hold all that you and your app may have of \(bytesMax) bytes",
            retryAfter: .seconds(1), limit: .init(name: name, value: UInt64(bytesMax)))
    }
}
