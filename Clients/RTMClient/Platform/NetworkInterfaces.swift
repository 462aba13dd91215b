import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Darwin
#endif

/// The interfaces of this device that lead to a network, by name and address.
struct NetworkInterfaces: Sendable {
    /// In the order in which the system lists them. An interface with several addresses occurs several times.
    let addresses: [(name: String, address: String)]

    init(addresses: [(name: String, address: String)]) { self.addresses = addresses }

    /// Without those that lead nowhere else: loopback, and addresses of one wire alone.
    static func ofThisDevice() -> NetworkInterfaces {
        let devices = (try? System.enumerateDevices()) ?? []
        return NetworkInterfaces(
            addresses: devices.compactMap { device in
                guard let address = device.address?.ipAddress, hasRouteElsewhere(address),
                    isUsable(device.name)
                else { return nil }
                return (device.name, address)
            })
    }

    private static func hasRouteElsewhere(_ address: String) -> Bool {
        let local = ["127.", "169.254.", "::1", "fe80:"]
        return !local.contains { address.lowercased().hasPrefix($0) }
    }

    /// Apple's platforms have interfaces with addresses that no connection of an app may take.
    private static func isUsable(_ name: String) -> Bool {
        #if canImport(Network)
            UsableInterfaces.named(name) != nil
        #else
            true
        #endif
    }

    /// Each once.
    var names: [String] {
        var names: [String] = []
        for (name, _) in addresses where !names.contains(name) { names.append(name) }
        return names
    }

    /// The interface with this address.
    func name(of address: String?) -> String? { addresses.first { $0.address == address }?.name }
}

/// A connection that leaves this device over one interface, whatever its routes say. POSIX sockets are bound
/// to it; a connection of Network.framework was made with it (`Sockets.bootstrap`).
enum InterfaceBinding {
    /// Limit: bytes of the name of an interface, with the zero behind it.
    private static let nameBytesMax = 16

    /// What a connection over an interface fails with that isn't there.
    static var missing: IOError { .noDevice(ENODEV) }

    /// - Throws: when there is no such interface, or when this system doesn't allow to choose one.
    static func bind(_ channel: any Channel, to interface: String) -> EventLoopFuture<Void> {
        guard let socket = channel as? any SocketOptionProvider else {
            #if canImport(Network)
                return channel.eventLoop.makeSucceededVoidFuture()
            #else
                return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
            #endif
        }
        #if canImport(Darwin)
            let index = if_nametoindex(interface)
            guard index > 0 else { return channel.eventLoop.makeFailedFuture(IOError.noDevice(errno)) }
            return socket.unsafeSetSocketOption(
                level: .ip, name: NIOBSDSocket.Option(rawValue: IP_BOUND_IF), value: index)
        #else
            var name = InlineName()
            guard interface.utf8.count < nameBytesMax else {
                return channel.eventLoop.makeFailedFuture(missing)
            }
            withUnsafeMutableBytes(of: &name) { $0.copyBytes(from: interface.utf8) }
            return socket.unsafeSetSocketOption(
                level: .socket, name: NIOBSDSocket.Option(rawValue: SO_BINDTODEVICE), value: name)
        #endif
    }

    /// The bytes that the option takes.
    private struct InlineName: Sendable {
        var low: UInt64 = 0
        var high: UInt64 = 0
    }
}

extension IOError {
    fileprivate static func noDevice(_ code: CInt) -> IOError {
        IOError(errnoCode: code, reason: "choosing an interface")
    }
}
