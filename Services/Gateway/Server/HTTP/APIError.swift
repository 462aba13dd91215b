import Foundation
import Hummingbird
import RTMCredentials
import RTMModel
import RTMWire

/// What every request that failed is answered with: a status that says what kind of failure it is, and a body
/// with the code of the system, the reason in one sentence, and what to do about it. It is an object because
/// the result of each message has room for one.
final class APIError: Error {
    let status: HTTPResponse.Status
    let body: Body

    struct Body: Encodable, Sendable {
        /// The number of the error, as in all interfaces of the system; 0 for an error of HTTP alone.
        var code: Int
        var name: String
        /// One sentence for a person. Don't parse it.
        var reason: String
        var limit: Limit?
        /// Seconds until a repetition may succeed.
        var retryAfter: Double?
        var conflict: Conflict?
        /// The id of the request, which the header `x-request-id` has, too.
        var requestId: String?
    }

    struct Limit: Encodable, Sendable {
        let name: String
        let value: UInt64
    }

    /// What a write that compared something found instead.
    struct Conflict: Encodable, Sendable {
        /// The revision of the set of metadata; beside it the item that differs, with its revision.
        var revision: Int64?
        var key: String?
        var itemRevision: Int64?
        /// The position of the channel's newest message.
        var epoch: UInt64?
        var offset: UInt64?
        /// The version of the channel's newest whole state.
        var version: UInt64?
        var versionEpoch: String?
    }

    init(
        _ status: HTTPResponse.Status, _ name: String, _ reason: String, retryAfter: Duration? = nil,
        conflict: Conflict? = nil
    ) {
        self.status = status
        body = Body(
            code: 0, name: name, reason: reason, retryAfter: retryAfter.map { $0 / .seconds(1) },
            conflict: conflict)
    }

    init(_ error: RTMError) {
        status = .init(code: Self.status(of: error))
        let isAway = status == .serviceUnavailable || status == .gatewayTimeout
        let retryAfter = error.retryAfter ?? (isAway ? .seconds(1) : nil)
        body = Body(
            code: error.code.rawValue, name: "\(error.code)", reason: error.reason,
            limit: error.limit.map { Limit(name: $0.name, value: $0.value) },
            retryAfter: retryAfter.map { $0 / .seconds(1) },
            conflict: error.conflict.map {
                Conflict(
                    revision: $0.majorRevision, key: $0.key, itemRevision: $0.key == nil ? nil : $0.revision)
            })
    }

    /// The hook of the app has refused a message: the same request would be refused again.
    init(refusedByHook error: RTMError) {
        status = .forbidden
        body = Body(code: error.code.rawValue, name: "refusedByHook", reason: error.reason)
    }

    /// What the caller may not do, whatever code the client library has for it.
    init(forbidden error: RTMError) {
        status = .forbidden
        body = Body(code: error.code.rawValue, name: "\(error.code)", reason: error.reason)
    }

    /// Why messaging didn't publish a message; nil if it did.
    convenience init?(refusal response: BackendPublishResponse) {
        let position = response.position
        switch response.outcome {
        case .published, .repeated: return nil
        case .outdatedPosition:
            self.init(
                .conflict, "outdatedOffset", "the channel's newest message is another one",
                conflict: Conflict(epoch: position.epoch, offset: position.offset))
        case .otherContent:
            self.init(
                .unprocessableContent, "idempotencyKeyReused",
                "another message was published with this Idempotency-Key, and this one was not")
        case .outdatedVersion:
            self.init(
                .conflict, "outdatedVersion",
                "the channel's last state has the version \(response.version), which is not older",
                conflict: Conflict(
                    epoch: position.epoch, offset: position.offset, version: response.version,
                    versionEpoch: response.versionEpoch.isEmpty ? nil : response.versionEpoch))
        }
    }

    private static func status(of error: RTMError) -> Int {
        switch error.code {
        case .operationRateExceedLimitation, .channelPublishMessageTooFrequent: 429
        case .channelSubscribePermissionDenied, .channelPublishPermissionDenied, .storagePermissionDenied,
            .historyPermissionDenied, .loginRejected, .loginNotAuthorized:
            403
        case .invalidToken, .tokenExpired, .loginInconsistentAppId: 401
        case .invalidAppId, .lockNotExist, .presenceUserNotExist: 404
        case .storageOutdatedRevision, .channelReceiverOffline, .lockAlreadyExist, .lockNotAcquired,
            .channelReceiverOfflineButMessageStoreSucceeded:
            409
        case .channelPublishMessageTimeout, .storageOperationTimeout, .presenceOperationTimeout,
            .lockOperationTimeout, .historyOperationTimeout:
            504
        case .notConnected, .channelPublishMessageFailed, .storageNotAvailable, .historyNotAvailable,
            .lockNotAvailable, .presenceNotConnected, .presenceOperationFailed:
            503
        case _ where error.retryAfter != nil: 503
        case .channelMessageDeliveredButStoreFailed, .channelReceiverOfflineAndMessageStoreFailed,
            .storageOperationFailed, .lockOperationFailed, .historyOperationFailed, .serviceNotSupport:
            500
        default: 400
        }
    }

    static func missing(_ scope: APIScope) -> APIError {
        APIError(.forbidden, "missingScope", "this needs the scope \"\(scope.rawValue)\"")
    }

    /// The body of the answer.
    ///
    /// - Parameter request: the id of the request.
    func text(for request: String) -> String {
        var body = body
        body.requestId = request
        return Response.text(json: Envelope(error: body))
    }

    /// - Parameter request: the id of the request.
    func response(to request: String) -> Response {
        var body = body
        body.requestId = request
        var response = Response(json: Envelope(error: body), status: status)
        if let retryAfter = body.retryAfter {
            response.headers[.retryAfter] = "\(max(1, Int(retryAfter.rounded(.up))))"
        }
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    /// The answer as bytes, for a connection that ends with it.
    var closingAnswer: ByteBuffer {
        let text = Response.text(json: Envelope(error: body))
        let retryAfter = body.retryAfter.map { "Retry-After: \(Int($0.rounded(.up)))\r\n" } ?? ""
        return ByteBuffer(
            string: "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(text.utf8.count)\r\n\(retryAfter)Connection: close\r\n\r\n\(text)")
    }

    private struct Envelope: Encodable { let error: Body }
}

extension Response {
    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }()

    /// One line of JSON.
    static func text(json value: some Encodable) -> String {
        // Values of the API are structs of texts and numbers, which always can be written.
        String(decoding: (try? encoder.encode(value)) ?? Data(), as: UTF8.self)
    }

    private static let headers: HTTPFields = [.contentType: "application/json"]

    init(json value: some Encodable, status: HTTPResponse.Status = .ok) {
        // Values of the API are structs of texts and numbers, which always can be written.
        let data = (try? Self.encoder.encode(value)) ?? Data()
        self.init(
            status: status, headers: Self.headers, body: .init(byteBuffer: ByteBuffer(bytes: data)))
    }

    init(json: JSONWriter, status: HTTPResponse.Status = .ok) {
        self.init(
            status: status, headers: Self.headers, body: .init(byteBuffer: ByteBuffer(bytes: json.bytes)))
    }
}
