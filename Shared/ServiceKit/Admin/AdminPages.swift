/// The pages of the admin port, apart from HTTP: a path goes in, a status and a body come out.
struct AdminPages: Sendable {
    struct Answer: Hashable {
        let status: Int
        let contentType: String
        let body: String
        /// The allowed methods, for the answer 405.
        var allowed: String?
    }

    let program: String
    let configuration: @Sendable () -> Configuration
    let metrics: MetricsRegistry
    let state: @Sendable () -> LifecycleStateMachine.State
    let readiness: @Sendable () -> Readiness
    /// Those of the program's services.
    let others: AdminPageRegistry

    private static let plain = "text/plain; charset=utf-8"
    private static let json = "application/json"

    /// - Parameter uri: the target of the request line; a query is ignored.
    func answer(method: String, uri: String) -> Answer {
        let path = String(uri.prefix { $0 != "?" })
        guard let page = page(path) else {
            let pages = (["/live", "/ready", "/metrics", "/config", "/version"] + others.paths)
                .joined(separator: ", ")
            return Answer(status: 404, contentType: Self.plain, body: "no such page; there are \(pages)\n")
        }
        guard method == "GET" || method == "HEAD" else {
            let body = "\(path) answers GET and HEAD only\n"
            return Answer(status: 405, contentType: Self.plain, body: body, allowed: "GET, HEAD")
        }
        return page()
    }

    private func page(_ path: String) -> (() -> Answer)? {
        switch path {
        // A process that can answer is alive. Whether it should get traffic is another question.
        case "/live": { Answer(status: 200, contentType: Self.plain, body: "live\n") }
        case "/ready": ready
        case "/metrics":
            {
                let body = PrometheusExporter.text(metrics)
                return Answer(status: 200, contentType: PrometheusExporter.contentType, body: body)
            }
        case "/config": { Answer(status: 200, contentType: "application/yaml", body: configuration().yaml) }
        case "/version":
            {
                let body = BuildInformation.json(program: program) + "\n"
                return Answer(status: 200, contentType: Self.json, body: body)
            }
        default:
            others[path].map { page in { Answer(status: 200, contentType: Self.json, body: page.text + "\n") }
            }
        }
    }

    private func ready() -> Answer {
        let (state, readiness) = (state(), readiness())
        let isReady = state == .running && readiness.isReady
        let probes = readiness.probes.map { probe in
            var fields = [("name", JSONText.quoted(probe.name)), ("ready", "\(probe.status == .ready)")]
            if !probe.isRequired { fields.append(("required", "false")) }
            if case .notReady(let cause) = probe.status { fields.append(("cause", JSONText.quoted(cause))) }
            return JSONText.object(fields.map { (name: $0.0, json: $0.1) })
        }
        let body = JSONText.object([
            ("ready", "\(isReady)"), ("state", JSONText.quoted(state.name)),
            ("probes", JSONText.array(probes)),
        ])
        return Answer(status: isReady ? 200 : 503, contentType: Self.json, body: body + "\n")
    }
}
