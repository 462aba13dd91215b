import RTMClient
import RTMTestSupport

/// How a client of a system under stress comes to its edge.
enum ChaosTransport: CaseIterable {
    case tcp, tls, webSocket, webSocketTLS

    /// Most come over TCP, and some over each of the others.
    init(ofClient number: Int) {
        switch number % 7 {
        case 2: self = .tls
        case 3: self = .webSocket
        case 5: self = .webSocketTLS
        default: self = .tcp
        }
    }

    /// The option that names the listener.
    fileprivate var option: String {
        switch self {
        case .tcp: "listen"
        case .tls: "tls-listen"
        case .webSocket: "web-socket-listen"
        case .webSocketTLS: "web-socket-tls-listen"
        }
    }

    fileprivate func url(_ address: String) -> String {
        switch self {
        case .tcp, .tls: address
        case .webSocket: "ws://\(address)"
        case .webSocketTLS: "wss://\(address)/rtm"
        }
    }

    var hasTLS: Bool { self == .tls || self == .webSocketTLS }
}

/// The listeners of an edge, one of each kind, at ports that stay, each behind a bad line.
struct ChaosListeners: Sendable {
    /// Where the edge listens in the clear.
    let address: String
    /// The options of the edge for the others.
    let options: [String]
    private let proxies: [ChaosTransport: FaultProxy]

    /// - Parameter prefix: what the options begin with: those of `rtm-standalone` name the service.
    static func start(_ certificate: TestCertificate, prefix: String = "") async throws -> ChaosListeners {
        let ports = try FreePorts.take(ChaosTransport.allCases.count)
        var options = [
            "--\(prefix)tls-certificate", certificate.certificate, "--\(prefix)tls-key", certificate.key,
        ]
        var proxies: [ChaosTransport: FaultProxy] = [:]
        for (transport, port) in zip(ChaosTransport.allCases, ports) {
            let address = "127.0.0.1:\(port)"
            proxies[transport] = try await FaultProxy.start(to: address)
            if transport != .tcp { options += ["--\(prefix)\(transport.option)", address] }
        }
        return ChaosListeners(address: "127.0.0.1:\(ports[0])", options: options, proxies: proxies)
    }

    /// What a client dials.
    func url(_ transport: ChaosTransport) -> String {
        transport.url(proxies[transport]?.address ?? "")
    }

    var lines: [FaultProxy] { ChaosTransport.allCases.compactMap { proxies[$0] } }
}
