import AsyncHTTPClient
import NIOCore
import NIOHTTP1
package import RTMAppConfiguration
package import RTMCredentials
import RTMServiceKit

/// Gets the keys of JWTs from a URL, under the rules of webhooks for addresses. Whoever answers for the keys
/// is every user of the app, so the connection is encrypted, or leads into a network that the operator has
/// allowed.
package struct HTTPKeyDownload: JWTKeyDownload {
    /// Limit: bytes of a document.
    private static let documentBytesMax = 256 * 1_024
    /// Limit: how long an answer may take.
    private static let timeout = TimeAmount.seconds(5)

    private let client: CheckedHTTPClient

    var url: HTTPURL { client.url }

    package init(_ url: HTTPURL, _ environment: CheckedHTTPClient.Environment) {
        client = CheckedHTTPClient(url, connectionsMax: 1, environment)
    }

    /// As a service makes it from its configuration.
    package static let make: KeyFetches.Make = { url, configuration, group in
        let key = JWTKeyKeys.privateAddresses
        let allowed = configuration[key].compactMap(AddressRange.init)
        return HTTPKeyDownload(
            url,
            CheckedHTTPClient.Environment(
                rules: AddressRules(allowed: allowed, admitsPublic: url.isEncrypted),
                rulesKey: key.declaration.name, timeout: timeout, eventLoopGroup: group))
    }

    package func get() async -> JWTKeyAnswer {
        var request = HTTPClientRequest(url: url.text)
        request.headers.add(name: "accept", value: "application/jwk-set+json, application/json")
        request.headers.add(name: "user-agent", value: "heliograph")
        do throws(CheckedHTTPClient.Failure) {
            return try await client.send(request) { response, deadline in
                guard response.status.code == 200 else {
                    let advice = 300..<400 ~= response.status.code ? ", and redirects aren't followed" : ""
                    return .failed("it answers with \(response.status.code)\(advice)")
                }
                let lifetime = CacheLifetime.seconds(response.headers["cache-control"])
                return try await Self.document(response, deadline, freshFor: lifetime.map { .seconds($0) })
            }
        } catch {
            switch error {
            case .noConnection(let cause): return .failed("no connection: \(cause)")
            case .noAnswer(let cause): return .failed("no answer: \(cause)")
            }
        }
    }

    private static func document(
        _ response: HTTPClientResponse, _ deadline: NIODeadline, freshFor lifetime: Duration?
    ) async throws -> JWTKeyAnswer {
        var text = ByteBuffer()
        for try await var part in response.body {
            guard text.readableBytes + part.readableBytes <= documentBytesMax else {
                return .failed("its answer has more than \(documentBytesMax) bytes")
            }
            guard .now() < deadline else { return .failed("its answer takes more than \(timeout)") }
            text.writeBuffer(&part)
        }
        return .document(String(buffer: text), freshFor: lifetime)
    }

    package func shutdown() async { await client.shutdown() }
}

/// What the header `Cache-Control` says about how long an answer is fresh (RFC 9111, 5.2.2.1). Pure.
enum CacheLifetime {
    /// - Returns: nil if it doesn't say, or can't be read.
    static func seconds(_ headers: [String]) -> UInt32? {
        for directive in headers.joined(separator: ",").split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1)
                .map { $0.filter { !" \t\"".contains($0) } }
            guard parts.count == 2, parts[0].lowercased() == "max-age" else { continue }
            return UInt32(parts[1])
        }
        return nil
    }
}
