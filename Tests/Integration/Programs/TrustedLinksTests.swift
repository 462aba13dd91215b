import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// Four services that prove to each other that they belong together, over TLS, by one file.
@Suite(.serialized) struct TrustedLinksTests {
    private func write(_ secret: String, _ tls: TestCertificate, to file: URL) throws {
        let text = """
            link:
              secret: \(secret)
              tls:
                enabled: true
                certificate: \(tls.certificate)
                key: \(tls.key)
                trust: \(tls.certificate)
            """
        try Data(text.utf8).write(to: file, options: .atomic)
    }

    @Test(
        "messages pass; another secret is the cause in /ready, and a reload of the right one brings the link up"
    )
    func secret() async throws {
        try await TestCertificate.with { tls in
            let directory = URL(fileURLWithPath: tls.certificate).deletingLastPathComponent()
            let (right, wrong) = (
                directory.appending(path: "right.yaml"), directory.appending(path: "wrong.yaml")
            )
            try write("the-right-one", tls, to: right)
            try write("another-one", tls, to: wrong)
            try await RunningSystem.with(.fourProcesses, services: ["--config", right.path]) { system in
                try await system.withClients("alice", "bob") { clients in
                    let (alice, bob) = (clients[0], clients[1])
                    var received = bob.events().makeAsyncIterator()
                    try await bob.subscribe(to: "lobby", features: [.message, .presence])
                    try await alice.publish("hello", to: .channel("lobby"))
                    #expect(await received.nextMessage()?.payload == .text("hello"))
                }
                let ready = "http://\(system.address("rtm-edge admin"))/ready"
                try await system.process("rtm-storage").kill9()
                let storage = try await system.launch(
                    "rtm-storage",
                    [
                        "--listen", system.address("storage"), "--config", wrong.path, "--messaging",
                        system.address("messaging"), "--data",
                        system.directory.appending(path: "storage").path,
                    ])
                try await eventually("the cause is named") {
                    let (status, body) = try await system.get(ready)
                    return status == 200 && body.contains("no link to storage")
                        && body.contains("the secret is not that of this installation")
                }
                try await eventually("storage says who was refused") {
                    storage.log.contains("caller refused") && storage.log.contains("edge 127.0.0.1:")
                }
                #expect(!storage.log.contains("another-one") && !storage.log.contains("the-right-one"))
                try write("the-right-one", tls, to: wrong)
                storage.signal(SIGHUP)
                try await eventually("the links are up") {
                    try await !system.get(ready).body.contains("no link to storage")
                }
            }
        }
    }
}
