internal import Foundation
package import NIOCore
internal import NIOPosix

/// Asks a running program's admin port for a page.
package enum AdminClient {
    /// Why a program's report could not be had, as a clause.
    package struct Failure: Error, Sendable {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// Asks a program what it says about itself.
    package static func report(
        of address: SocketAddress, within timeout: TimeAmount = .seconds(2)
    ) async throws(Failure) -> NodeReport {
        do {
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let place = HostPort(host: address.ipAddress ?? "", port: address.port ?? 0)
            let answer = try await HTTPCall.get("/node").answer(of: place, on: loop, within: timeout).get()
            guard answer.status == 200 else { throw Failure(reason: "it answers \(answer.status)") }
            return try NodeReport(json: Data(answer.body.readableBytesView))
        } catch let failure as Failure {
            throw failure
        } catch is DecodingError {
            throw Failure(reason: "its answer is no report of a node of this version")
        } catch {
            throw Failure(reason: HTTPCall.reason(error))
        }
    }

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
