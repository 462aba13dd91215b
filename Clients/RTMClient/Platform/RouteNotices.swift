// Changes of the network on Linux (T7). The kernel reports them over a netlink socket; the clients of a
// process share one. What a change means for a client, `NetworkRoute` decides.

#if canImport(Glibc)
    import Glibc
    import NIOCore
    import NIOPosix
    import NIOConcurrencyHelpers

    /// Reports that addresses or routes of this machine have changed, for as long as somebody listens.
    final class RouteNotices: Sendable {
        static let shared = RouteNotices()

        private struct Contents {
            var listeners: [UInt64: @Sendable () -> Void] = [:]
            var lastListener: UInt64 = 0
            /// The number of the present socket; what an earlier one reports is of no interest.
            var socket: UInt64 = 0
            var channel: (any Channel)?
        }

        private let contents = NIOLockedValueBox(Contents())

        /// - Returns: the number with which the listener can be removed.
        func add(_ listener: @escaping @Sendable () -> Void) -> UInt64 {
            let (number, isFirst) = contents.withLockedValue { contents in
                contents.lastListener += 1
                contents.listeners[contents.lastListener] = listener
                return (contents.lastListener, contents.listeners.count == 1)
            }
            if isFirst { open() }
            return number
        }

        func remove(_ number: UInt64) {
            let channel: (any Channel)? = contents.withLockedValue { contents in
                contents.listeners[number] = nil
                guard contents.listeners.isEmpty else { return nil }
                contents.socket += 1
                return contents.channel.take()
            }
            channel?.close(promise: nil)
        }

        /// Without a socket, as in a sandbox that forbids it, the client notices a change when a heartbeat
        /// stays out.
        private func open() {
            guard let descriptor = Self.makeSocket() else { return }
            let number = contents.withLockedValue { contents in
                contents.socket += 1
                return contents.socket
            }
            NIOPipeBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(NoticeReader(self, socket: number))
                    }
                }
                .takingOwnershipOfDescriptor(input: descriptor)
                .whenSuccess { self.opened($0, number) }
        }

        private func opened(_ channel: any Channel, _ number: UInt64) {
            let isWanted = contents.withLockedValue { contents in
                guard contents.socket == number, !contents.listeners.isEmpty else { return false }
                contents.channel = channel
                return true
            }
            if !isWanted { channel.close(promise: nil) }
        }

        fileprivate func changed() {
            for listener in contents.withLockedValue({ Array($0.listeners.values) }) { listener() }
        }

        /// When more notices came than the kernel keeps, reading fails and the socket is closed. Another one
        /// takes its place a moment later, and what changed meanwhile is one more change.
        fileprivate func closed(_ number: UInt64) {
            let isPresent = contents.withLockedValue { contents in
                guard contents.socket == number, contents.channel != nil else { return false }
                contents.channel = nil
                return true
            }
            guard isPresent else { return }
            MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .seconds(1)) {
                guard self.contents.withLockedValue({ $0.socket == number && !$0.listeners.isEmpty }) else {
                    return
                }
                self.open()
                self.changed()
            }
        }

        /// The struct `sockaddr_nl`, which no module of the system has.
        private struct NetlinkAddress {
            let family = UInt16(AF_NETLINK)
            let padding: UInt16 = 0
            let port: UInt32 = 0
            let groups: UInt32
        }

        /// RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR and RTMGRP_IPV6_ROUTE of
        /// linux/rtnetlink.h.
        private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

        private static func makeSocket() -> CInt? {
            let kind = CInt(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue)
            // 0 is NETLINK_ROUTE.
            let descriptor = socket(AF_NETLINK, kind, 0)
            guard descriptor >= 0 else { return nil }
            let isBound = withUnsafeBytes(of: NetlinkAddress(groups: groups)) { bytes in
                bind(
                    descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(bytes.count)) == 0
            }
            guard isBound else {
                close(descriptor)
                return nil
            }
            return descriptor
        }
    }

    /// What the notices say doesn't matter: all that came at once is one change.
    private final class NoticeReader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let notices: RouteNotices
        private let socket: UInt64

        init(_ notices: RouteNotices, socket: UInt64) {
            self.notices = notices
            self.socket = socket
        }

        func channelReadComplete(context: ChannelHandlerContext) { notices.changed() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelInactive(context: ChannelHandlerContext) { notices.closed(socket) }
    }
#endif
