// Changes of the network (T7). An Apple device knows that its route changed long before a heartbeat is
// missing. Elsewhere the app may report a change with `RTMClient.networkChanged`.

import NIOCore

#if canImport(Network)
    import Dispatch
    import Network
    import NIOConcurrencyHelpers

    /// Watches the network for as long as it lives.
    final class NetworkPath: Sendable {
        private let monitor = NWPathMonitor()

        /// The client is notified when another interface is preferred, or when there is one again.
        init(_ eventLoop: any EventLoop, _ link: NIOLoopBoundBox<Link>) {
            let preferred = PreferredInterface()
            monitor.pathUpdateHandler = { path in
                UsableInterfaces.known.withLockedValue { $0 = path.availableInterfaces }
                let name = path.status == .satisfied ? path.availableInterfaces.first?.name : nil
                guard preferred.isChanged(to: name) else { return }
                eventLoop.execute { link.value.calls.networkChanged() }
            }
            monitor.start(queue: DispatchQueue(label: "rtm.network-path"))
        }

        deinit { monitor.cancel() }
    }

    /// The interfaces that the system can reach something over. All monitors of a process see the same ones.
    enum UsableInterfaces {
        /// Empty until the first report.
        static let known = NIOLockedValueBox<[NWInterface]>([])

        static func named(_ name: String) -> NWInterface? {
            known.withLockedValue { $0.first { $0.name == name } }
        }
    }

    private final class PreferredInterface: Sendable {
        /// The first report says what is there already, which is no change.
        private let known = NIOLockedValueBox<(isReported: Bool, name: String?)>((false, nil))

        func isChanged(to name: String?) -> Bool {
            known.withLockedValue { known in
                let isChange = known.isReported && name != nil && name != known.name
                known = (true, name)
                return isChange
            }
        }
    }
#else
    /// Nothing can be asked here.
    struct NetworkPath {
        init(_ eventLoop: any EventLoop, _ link: NIOLoopBoundBox<Link>) {}
    }
#endif
