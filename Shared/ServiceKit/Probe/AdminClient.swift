internal import NIOCore
internal import NIOPosix

/// Asks a running program's admin port for a page.
enum AdminClient {
    /// Asks whether the program is ready.
    ///
    /// - Parameter address: where it listens, as in its configuration. An address for all networks of the
    ///   machine is reached over loopback.
    static func probe(
        _ program: String, at address: HostPort, within timeout: TimeAmount = .seconds(3)
    ) async -> ProbeAnswer {
        do {
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let answer = try await HTTPCall.get("/ready")
                .answer(of: address.reachable, on: loop, within: timeout).get()
            return ProbeAnswer(
                program, at: address, status: answer.status, body: answer.body.readableBytesView)
        } catch {
            return ProbeAnswer(program, at: address, reason: HTTPCall.reason(error))
        }
    }
}

extension HostPort {
    /// Where a program of this machine reaches what listens here.
    fileprivate var reachable: HostPort {
        switch host {
        case "0.0.0.0": HostPort(host: "127.0.0.1", port: port)
        case "::": HostPort(host: "::1", port: port)
        default: self
        }
    }
}
