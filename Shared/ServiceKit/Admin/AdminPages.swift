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
    ///   - host: the header of that name.
    ///   - origin: the header of that name, which browsers send for the script of a page.
    func answer(
        method: String, uri: String, authorization: String? = nil, host: String? = nil, origin: String? = nil
    ) async -> AdminAnswer {
        let path = String(uri.prefix { $0 != "?" })
        if let refusal = browserRefusal(host: host, origin: origin) { return refusal }
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

    /// A loopback port trusts whoever reaches it, and a page of the web in a browser of this machine does.
    /// Such a page names itself as the origin of a change, or reads by a name of its own that leads to
    /// 127.0.0.1.
    private func browserRefusal(host: String?, origin: String?) -> AdminAnswer? {
        if origin != nil {
            return .refused(
                403, "The admin port answers no web pages, and one has sent this request (header Origin).")
        }
        guard isLoopback, let host, !HostPort.isLoopback(header: host) else { return nil }
        return .refused(
            403,
            "The admin port answers this machine alone, and the request names another host: "
                + "use 127.0.0.1.")
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
            if let note = probe.note { fields.append(("note", JSONText.quoted(note))) }
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
