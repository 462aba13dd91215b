/// The pages of the admin port, apart from HTTP: a path goes in, a status and a body come out.
struct AdminPages: Sendable {
    let program: String
    let configuration: @Sendable () -> Configuration
    let metrics: MetricsRegistry
    let state: @Sendable () -> LifecycleStateMachine.State
    let readiness: @Sendable () -> Readiness
    /// Those of the program's services.
    let others: AdminPageRegistry
    let started: NodeStart

    /// Whether only this machine reaches the port.
    var isLoopback = true

    /// - Parameters:
    ///   - uri: the target of the request line; a query is for those pages that services make.
    ///   - authorization: the header of that name.
    func answer(method: String, uri: String, authorization: String? = nil) async -> AdminAnswer {
        let path = String(uri.prefix { $0 != "?" })
        if let route = others.route(path) {
            if let refusal = route.refusal(authorization, isLoopback: isLoopback) { return refusal }
            guard route.methods.contains(method) else { return .methodNotAllowed(path, route.methods) }
            return await route.answer(AdminRequest(method: method, uri: uri))
        }
        guard let page = page(path) else {
            let pages = (["/live", "/ready", "/metrics", "/config", "/node", "/version"] + others.paths)
                .joined(separator: ", ")
            return .refused(404, "no such page; there are \(pages)")
        }
        guard method == "GET" || method == "HEAD" else {
            return .methodNotAllowed(path, ["GET", "HEAD"])
        }
        return page()
    }

    private func page(_ path: String) -> (() -> AdminAnswer)? {
        switch path {
        // A process that can answer is alive. Whether it should get traffic is another question.
        case "/live": { AdminAnswer(status: 200, contentType: AdminAnswer.plain, body: "live\n") }
        case "/ready": ready
        case "/metrics":
            {
                let body = PrometheusExporter.text(metrics)
                return AdminAnswer(status: 200, contentType: PrometheusExporter.contentType, body: body)
            }
        case "/config":
            { AdminAnswer(status: 200, contentType: "application/yaml", body: configuration().yaml) }
        case "/node": { .json(report().json) }
        case "/version": { .json(BuildInformation.json(program: program)) }
        default: others[path].map { page in { .json(page.text) } }
        }
    }

    func report() -> NodeReport {
        NodeReport(
            program: program, started: started, isRunning: state() == .running, readiness: readiness(),
            metrics: metrics, configuration: configuration(), warnings: RecentWarnings.process.lines)
    }

    private func ready() -> AdminAnswer {
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
        return AdminAnswer(
            status: isReady ? 200 : 503, contentType: AdminAnswer.json, body: body + "\n")
    }
}
