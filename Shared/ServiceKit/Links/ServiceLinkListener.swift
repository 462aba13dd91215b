internal import Logging
internal import NIOCore
internal import RTMModel
package import RTMServiceLink

/// Where a service waits for its callers: at an address, or within the process.
package enum ServiceLinkEndpoint: Sendable {
    case address(HostPort)
    case inProcess(InProcessEndpoint)

    /// Whether callers come from outside the process.
    package var isNetworked: Bool { if case .address = self { true } else { false } }
}

/// The part of a service that callers reach. It listens while the service runs, and closes its links when the
/// service ends.
package struct ServiceLinkListener: Service {
    package let name: String
    private let server: ServiceLinkServer
    private let endpoint: ServiceLinkEndpoint
    private let port = Latch<Int>()

    package init(_ server: ServiceLinkServer, at endpoint: ServiceLinkEndpoint) {
        name = "\(server.configuration.service) listener"
        self.server = server
        self.endpoint = endpoint
    }

    package func start() async throws {
        switch endpoint {
        case .inProcess(let endpoint):
            server.listen(on: endpoint)
        case .address(let address):
            do {
                port.resolve(try await server.listen(host: address.host, port: address.port))
            } catch {
                throw ServiceFailure.cannotBind(address, for: name, error)
            }
        }
    }

    package func shutdown(deadline: ContinuousClock.Instant) async { await server.drain() }

    package var listening: [ListeningAddress] {
        get async {
            guard case .address(let address) = endpoint else { return [] }
            let bound = HostPort(host: address.host, port: await port.wait() ?? address.port)
            return [ListeningAddress(server.configuration.service, bound)]
        }
    }
}
