import Foundation
import NIOCore
import RTMServiceLink
import RTMTestSupport
import Testing

/// A link over TLS, with a certificate made for the test.
@Suite struct ServiceLinkTLSTests {
    private func tls(_ identity: TestCertificate?, trust: TestCertificate) throws -> ServiceLinkTLS {
        func read(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
        let own = try identity.map {
            try TLSIdentity(certificate: read($0.certificate), key: read($0.key))
        }
        return ServiceLinkTLS(try .init(identity: own, trust: try read(trust.certificate)))
    }

    @Test("requests, large responses and a drain pass over TLS")
    func talk() async throws {
        try await TestCertificate.with { files in
            let (server, client) = (try tls(files, trust: files), try tls(nil, trust: files))
            try await ServiceLinkFixture.with(.tcp) {
                $0.server.link.tls = server
                $0.client.link.tls = client
            } _: { fixture in
                let (server, caller) = try await fixture.connected()
                try await caller.request(EchoMethod.echo, Bytes("hi"), context: 1)
                try await caller.request(EchoMethod.large, Bytes(1_000_000), context: 2)
                try await eventually("the answers") { fixture.journal.answers.count == 2 }
                #expect(fixture.journal.answers.first == .response(1, Bytes("hi")))
                await server.drain()
                try await eventually("link down") { fixture.journal.downs.count == 1 }
            }
        }
    }

    @Test(
        "a certificate of another authority, and a peer without TLS, are refused", arguments: [true, false])
    func refused(hasTLS: Bool) async throws {
        try await TestCertificate.with { files in
            try await TestCertificate.with { foreign in
                let server = hasTLS ? try tls(foreign, trust: files) : nil
                let client = try tls(nil, trust: files)
                try await ServiceLinkFixture.with(.tcp) {
                    $0.server.link.tls = server
                    $0.client.link.tls = client
                } _: { fixture in
                    let (_, address) = try await fixture.listen()
                    let caller = try await fixture.call(address)
                    try await eventually("a failed attempt") {
                        try await caller.turn { $0.downReason } != .notStarted
                    }
                    #expect(fixture.journal.events.isEmpty)
                    #expect(fixture.visits.now.opened.isEmpty)
                }
            }
        }
    }
}
