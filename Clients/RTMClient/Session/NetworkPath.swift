// Changes of the network on Apple platforms (T7). The device knows that its way to the network changed long
// before a heartbeat stays out. On other platforms the app may say so with `RTMClient.networkChanged`.

#if canImport(Network)
    import Dispatch
    import Network
    import Synchronization

    /// Watches the network for as long as it lives.
    final class NetworkPath: Sendable {
        private let monitor = NWPathMonitor()

        /// - Parameter changed: called when another interface is preferred, or when there is one again.
        init(changed: @escaping @Sendable () -> Void) {
            let preferred = PreferredInterface()
            monitor.pathUpdateHandler = { path in
                let name = path.status == .satisfied ? path.availableInterfaces.first?.name : nil
                if preferred.isChanged(to: name) { changed() }
            }
            monitor.start(queue: DispatchQueue(label: "rtm.network-path"))
        }

        deinit { monitor.cancel() }
    }

    private final class PreferredInterface: Sendable {
        /// The first report says what is there already, which is no change.
        private let known = Mutex<(isReported: Bool, name: String?)>((false, nil))

        func isChanged(to name: String?) -> Bool {
            known.withLock { known in
                let isChange = known.isReported && name != nil && name != known.name
                known = (true, name)
                return isChange
            }
        }
    }
#endif
