import CGatewayFiles
import HTTPTypes
import Hummingbird
import NIOCore
import RTMCryptography

/// A file of the console, of the web client or of its sample, from the binary itself.
struct ServedFile: Sendable {
    let content: ByteBuffer
    let contentType: String
    /// Changes with the content.
    let tag: String

    /// All of them, by path below the root of the server.
    static let all: [String: ServedFile] = {
        var files: [String: ServedFile] = [:]
        for index in 0..<gateway_files_count {
            guard let file = gateway_file_at(index)?.pointee else { continue }
            files[String(cString: file.path)] = ServedFile(file)
        }
        return files
    }()

    private init(_ file: gateway_file) {
        let bytes = UnsafeRawBufferPointer(start: file.bytes, count: file.length)
        content = ByteBuffer(bytes: bytes)
        let kind = String(cString: file.path).split(separator: ".").last ?? ""
        contentType =
            switch kind {
            case "html": "text/html; charset=utf-8"
            case "js": "text/javascript; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            case "svg": "image/svg+xml"
            default: "application/octet-stream"
            }
        let code = MessageCode.make(over: Array(bytes), key: Array("etag".utf8))
        tag = "\"\(code.prefix(12).map { String($0, radix: 16) }.joined(separator: "-"))\""
    }

    /// - Parameters:
    ///   - sockets: where pages may open a WebSocket, beside this server.
    ///   - isSecure: whether the browser speaks TLS. Then it keeps to it.
    func response(to request: Request, sockets: [String], isSecure: Bool = false) -> Response {
        var headers: HTTPFields = [
            .contentType: contentType, .eTag: tag, .cacheControl: "no-cache",
            .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer",
            .contentSecurityPolicy: Self.policy(sockets),
        ]
        if isSecure { headers[.strictTransportSecurity] = "max-age=31536000" }
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        headers[.contentLength] = "\(content.readableBytes)"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: content))
    }

    /// Nothing is loaded from elsewhere, no page frames these, and no script is taken from a page.
    private static func policy(_ sockets: [String]) -> String {
        let connections = (["'self'"] + sockets).joined(separator: " ")
        return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            + "connect-src \(connections); form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    }
}

extension HTTPField.Name {
    fileprivate static let referrerPolicy = Self("Referrer-Policy")!
}
