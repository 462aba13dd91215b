import AsyncHTTPClient
package import Foundation
import NIOCore
import NIOHTTP1
package import RTMCredentials

/// Where the requests of one webhook or hook go, to addresses that are checked.
package final class WebhookReceiver: Sendable {
    /// Limit: bytes of an answer that are read beyond those that are kept. The rest of a longer one is cut
    /// off with its connection.
    private static let passedOverBytesMax = 64 * 1_024

    private let target: WebhookTarget
    private let client: CheckedHTTPClient
    /// Limit: bytes of an answer that are kept.
    private let keptBytesMax: Int

    /// - Parameter keptBytesMax: how much of an answer is kept; the rest is passed over.
    package init(
        _ target: WebhookTarget, connectionsMax: Int, keptBytesMax: Int = WebhookAnswer.startBytesMax,
        _ environment: CheckedHTTPClient.Environment
    ) {
        (self.target, self.keptBytesMax) = (target, keptBytesMax)
        client = CheckedHTTPClient(target.url, connectionsMax: connectionsMax, environment)
    }

    package func shutdown() async { await client.shutdown() }

    /// Sends a signed request, and never throws: whatever happens is an answer.
    package func post(_ body: String, now: Date) async -> WebhookAnswer {
        let start = NIODeadline.now()
        var answer: WebhookAnswer
        do throws(CheckedHTTPClient.Failure) {
            answer = try await client.send(request(Array(body.utf8), now: now)) { response, deadline in
                var answer = WebhookAnswer(outcome: .status(Int(response.status.code)))
                answer.retryAfter = RetryAfter.pause(
                    response.headers.first(name: "retry-after"), sent: response.headers.first(name: "date"),
                    now: now)
                answer.start = try await self.start(of: response, deadline: deadline)
                return answer
            }
        } catch {
            answer = WebhookAnswer(outcome: .init(error))
        }
        answer.duration = .now() - start
        return answer
    }

    private func request(_ body: [UInt8], now: Date) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: target.url.text)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "user-agent", value: "heliograph")
        let signed = WebhookSignature(secrets: target.secrets).headers(
            id: WebhookSignature.id(of: body), seconds: UInt64(now.timeIntervalSince1970), body: body)
        for field in signed { request.headers.add(name: field.name, value: field.value) }
        request.body = .bytes(ByteBuffer(bytes: body))
        return request
    }

    /// The first bytes. The rest is read, too, as long as it is short, because only then can the connection
    /// be used again.
    private func start(of response: HTTPClientResponse, deadline: NIODeadline) async throws -> String {
        var (start, count) = ([UInt8](), 0)
        for try await part in response.body {
            count += part.readableBytes
            start += part.readableBytesView.prefix(keptBytesMax - start.count)
            guard count <= keptBytesMax + Self.passedOverBytesMax, .now() < deadline else { break }
        }
        return String(decoding: start, as: UTF8.self)
    }
}

extension WebhookAnswer.Outcome {
    fileprivate init(_ failure: CheckedHTTPClient.Failure) {
        switch failure {
        case .noConnection(let cause): self = .noConnection(cause)
        case .noAnswer(let cause): self = .noAnswer(cause)
        }
    }
}
