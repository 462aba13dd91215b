import Foundation
import RTMClient
import RTMTestSupport
import RTMTokenTestSupport
import Testing

/// What an operator sees of all nodes over HTTP.
@Suite(.serialized, .ends(withinMinutes: 2)) struct GatewayNodeTests {
    private func rows(_ answer: GatewaySystem.Answer, _ list: String) -> [[String: Any]] {
        (answer.value(list) as? [[String: Any]]) ?? []
    }

    @Test(
        "W-78: each node with its load, warnings and configuration, and why one does not answer"
    )
    func fourProcesses() async throws {
        try await GatewaySystem.with(.fourProcesses) { gateway in
            let system = gateway.system
            let alone = try await gateway.call("GET", "/v1/nodes", key: "operator")
            #expect(
                rows(alone, "nodes").compactMap { $0["node"] as? String } == ["rtm-gateway"], "\(alone.text)")
            let services = ["edge", "messaging", "presence", "storage", "gateway"]
            let places = services.map { system.address("rtm-\($0) admin") }
            let away = "127.0.0.1:\(try FreePorts.take(1)[0])"
            try await gateway.replaceNodes(places + [away, "nowhere.invalid:1"])
            try await system.withClients("alice", "bob") { clients in
                try await clients[1].subscribe(to: "lobby")
                _ = try await clients[0].publish("x", to: .channel("lobby"))
                try await eventually("the message is counted") {
                    let answer = try await gateway.call("GET", "/v1/nodes", key: "operator")
                    let nodes = rows(answer, "nodes")
                    // The gateway has an address, so it is there once.
                    #expect(nodes.count == 7)
                    let edge = nodes[0]
                    return edge["messagesIn"] as? Int == 1 && edge["messagesOut"] as? Int ?? 0 >= 1
                }
                let answer = try await gateway.call("GET", "/v1/nodes", key: "operator")
                let nodes = rows(answer, "nodes")
                #expect(
                    nodes.prefix(5).compactMap { $0["program"] as? String } == services.map { "rtm-\($0)" })
                #expect(nodes.prefix(5).compactMap { $0["node"] as? String } == places)
                #expect(nodes.prefix(5).allSatisfy { $0["ready"] as? Bool == true }, "\(answer.text)")
                #expect(nodes.prefix(5).allSatisfy { $0["memoryBytes"] as? Int ?? 0 > 1 << 20 })
                #expect(nodes[0]["sessions"] as? Int == 2 && nodes[1]["sessions"] == nil)
                #expect(nodes[1]["messagesIn"] as? Int ?? 0 >= 1)
                let reason = nodes[5]["unreachable"] as? String
                #expect(reason == "Connection refused" && nodes[5]["ready"] == nil, "\(answer.text)")
                #expect(nodes[6]["unreachable"] as? String != nil)
            }
            let incidents = rows(
                try await gateway.call("GET", "/v1/incidents", key: "operator"), "incidents")
            #expect(incidents.prefix(2).allSatisfy { $0["message"] as? String == "the node can't be asked" })
            let times = incidents.compactMap { $0["time"] as? String }
            #expect(!times.isEmpty && times == times.sorted(by: >))
            #expect(incidents.allSatisfy { ["warning", "error"].contains($0["level"] as? String) })
            let one = try await gateway.call("GET", "/v1/incidents?limit=1", key: "operator")
            #expect(one.count("incidents") == 1)
            try await configuration(gateway, places)
            let list = try await gateway.run("node", "list", key: "operator")
            #expect(list.status == 0 && list.output.count == 7, "\(list)")
            #expect(list.output[0].hasPrefix("\(places[0])\trtm-edge"), "\(list.output)")
            #expect(list.output[5].hasPrefix("\(away)\tcan't be asked: "), "\(list.output)")
            let lines = try await gateway.run("node", "incidents", "--limit", "1", key: "operator")
            #expect(lines.status == 0 && lines.output.count == 1, "\(lines)")
            let changed = try await gateway.run(
                "node", "configuration", "--changed", "--prefix", "gateway.nodes", key: "operator")
            #expect(changed.output.first?.hasPrefix("gateway.nodes\t[") ?? false, "\(changed)")
            let refused = try await gateway.run("node", "list", key: "admin")
            #expect(refused.status == 1, "\(refused)")
        }
    }

    private func configuration(_ gateway: GatewaySystem, _ places: [String]) async throws {
        let all = rows(try await gateway.call("GET", "/v1/configuration", key: "operator"), "settings")
        let names = all.compactMap { $0["key"] as? String }
        #expect(names == names.sorted() && names.count > 100)
        let apps = all.filter { $0["key"] as? String == "apps" }
        #expect(apps.contains { ($0["nodes"] as? [String])?.count ?? 0 > 1 }, "\(apps)")
        let text = try await gateway.call("GET", "/v1/configuration?prefix=apps", key: "operator").text
        #expect(!text.contains(SampleApp.certificate) && text.contains(SampleApp.id))
        let changed = rows(
            try await gateway.call("GET", "/v1/configuration?changed=true&prefix=gateway.", key: "operator"),
            "settings")
        #expect(changed.contains { $0["key"] as? String == "gateway.nodes" && $0["isLive"] as? Bool == true })
        #expect(changed.allSatisfy { $0["isDefault"] as? Bool == false })
        #expect(changed.allSatisfy { ($0["nodes"] as? [String]) == [places[4]] })
    }

    @Test("W-78: only a key for all apps with the scope admin sees the installation")
    func access() async throws {
        try await GatewaySystem.with { gateway in
            for path in ["/v1/nodes", "/v1/incidents", "/v1/configuration"] {
                for (key, error) in [
                    ("admin", "operatorNeeded"), ("all", "missingScope"), ("old", "unknownKey"),
                    ("chat", "channelOutOfReach"),
                ] {
                    #expect(try await gateway.call("GET", path, key: key).error == error, "\(path) \(key)")
                }
                #expect(try await gateway.call("GET", path, key: "operator").status == 200)
                #expect(try await gateway.call("GET", "\(path)?x=1", key: "operator").error == "invalidQuery")
                #expect(try await gateway.call("POST", path, key: "operator").status == 405)
            }
            let node = try await gateway.call("GET", "/v1/nodes", key: "operator")
            #expect(node.string("nodes", 0, "program") == "rtm-standalone")
            let uses = node.value("nodes", 0, "uses") as? [[String: Any]]
            #expect(uses?.contains { $0["limit"] as? String == "storage.bytesMax" } ?? false)
        }
    }
}
