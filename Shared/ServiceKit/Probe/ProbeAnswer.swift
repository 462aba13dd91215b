internal import Foundation

/// The answer of a running program to the question whether it is ready, in one sentence for an operator
/// or for the engine that runs a container. Pure.
struct ProbeAnswer: Hashable {
    let isReady: Bool
    /// A whole sentence that names the program and, if it isn't ready, the cause.
    let sentence: String

    private init(_ program: String, isReady: Bool, _ clause: String) {
        self.isReady = isReady
        sentence = "\(program) \(clause)"
    }

    /// - Parameters:
    ///   - status: the status of the answer to `GET /ready`.
    ///   - body: what `AdminPages` has written, or what somebody else who listens there has sent.
    init(_ program: String, at address: HostPort, status: Int, body: some Sequence<UInt8>) {
        guard let page = try? JSONDecoder().decode(Page.self, from: Data(body)) else {
            self.init(
                program, isReady: false,
                "is not what listens at \(address): the answer to /ready, with status \(status), "
                    + "is not its page."
            )
            return
        }
        if page.ready {
            self.init(program, isReady: true, "is ready.")
        } else {
            self.init(program, isReady: false, "is not ready: \(page.causes).")
        }
    }

    /// - Parameter reason: why there was no answer: "Connection refused".
    init(_ program: String, at address: HostPort, reason: String) {
        self.init(program, isReady: false, "does not answer at \(address): \(reason).")
    }
}

/// The page `/ready`, as `AdminPages` writes it.
private struct Page: Decodable {
    struct Probe: Decodable {
        let name: String
        let ready: Bool
        let required: Bool?
        let cause: String?
    }

    let ready: Bool
    let state: String
    let probes: [Probe]

    /// The causes of the required probes, or else the state, which is "starting" or "draining" then.
    var causes: String {
        let missing = probes.filter { !$0.ready && $0.required != false }
            .map { probe in probe.cause.map { "\(probe.name): \($0)" } ?? probe.name }
        return state == "running" || state == "starting" && !missing.isEmpty
            ? missing.joined(separator: "; ") : "it is \(state)"
    }
}
