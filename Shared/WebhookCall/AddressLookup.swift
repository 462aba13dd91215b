import Foundation
package import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Asks the system which addresses a host has. A name is looked up on a thread of its own, because the system
/// may take half a minute for one whose name servers are gone, and other names have nothing to do with that.
package final class AddressLookup: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Limit: names that are being looked up at a time.
    package static let countMax = 64

    package static let system = AddressLookup(resolve: systemAddresses)

    private let resolve: @Sendable (String) throws -> [String]
    /// By name: who waits for its addresses.
    private let waiting = Mutex<[String: [EventLoopPromise<[String]>]]>([:])

    /// - Parameter resolve: blocks its thread until it has the addresses of a name.
    package init(resolve: @escaping @Sendable (String) throws -> [String]) { self.resolve = resolve }

    /// An address is taken as it is.
    ///
    /// - Throws: `Failure` with the system's words, or because it takes longer than `timeout`.
    package func addresses(
        of host: String, port: Int, within timeout: TimeAmount
    ) async throws -> [SocketAddress] {
        if let address = try? SocketAddress(ipAddress: host, port: port) { return [address] }
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        let promise = eventLoop.makePromise(of: [String].self)
        // Whichever comes first completes the promise.
        let timer = eventLoop.scheduleTask(in: timeout) {
            promise.fail(Failure(description: "the lookup of \(host) takes more than \(timeout)"))
        }
        defer { timer.cancel() }
        find(host, promise)
        // An address with a zone, which only this machine knows, can't be read, and is none for a webhook.
        return try await promise.futureResult.get().compactMap {
            try? SocketAddress(ipAddress: $0, port: port)
        }
    }

    /// Whoever asks for a name that is being looked up gets the same answer.
    private func find(_ host: String, _ promise: EventLoopPromise<[String]>) {
        let places = waiting.withLock { waiting in
            guard waiting[host] != nil || waiting.count < Self.countMax else { return 0 }
            waiting[host, default: []].append(promise)
            return waiting[host]?.count ?? 0
        }
        guard places > 0 else {
            return promise.fail(Failure(description: "\(Self.countMax) names are being looked up already"))
        }
        guard places == 1 else { return }
        Thread { [self] in
            let found = Result { try resolve(host) }
            for promise in waiting.withLock({ $0.removeValue(forKey: host) ?? [] }) {
                promise.completeWith(found)
            }
        }.start()
    }

    @Sendable private static func systemAddresses(of host: String) throws -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = SOCK_STREAM.number
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, nil, &hints, &list)
        guard result == 0 else { throw Failure(description: String(cString: gai_strerror(result))) }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var entry = list
        while let info = entry?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let code = getnameinfo(
                info.ai_addr, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            let bytes = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
            if code == 0 { addresses.append(String(decoding: bytes, as: UTF8.self)) }
            entry = info.ai_next
        }
        return addresses
    }
}

#if canImport(Glibc)
    extension __socket_type {
        fileprivate var number: Int32 { Int32(rawValue) }
    }
#else
    extension Int32 {
        fileprivate var number: Int32 { self }
    }
#endif
