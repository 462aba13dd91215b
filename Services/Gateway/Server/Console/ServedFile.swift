import CGatewayFiles
import HTTPTypes
import Hummingbird
import NIOCore
import RTMCryptography

/// A file of the console, of the web client or of its sample, or the OpenAPI document: from the binary
/// itself.
struct ServedFile: Sendable {
    let content: ByteBuffer
    let contentType: String
    /// Changes with the content.
    let tag: String
    /// The content compressed by gzip, where the binary has that.
    let gzipped: ByteBuffer?
    /// Whether the name changes with the content, so that a browser may keep it for good.
    let isLasting: Bool
    /// Whether pages of other servers may load it: the web client and the OpenAPI document are for them.
    let isForAll: Bool

    /// All of them, by path below the root of the server.
    static let all: [String: ServedFile] = {
        var files: [String: ServedFile] = [:]
        for index in 0..<gateway_files_count {
            guard let file = gateway_file_at(index)?.pointee else { continue }
            files[String(cString: file.path)] = ServedFile(file, isLasting: false)
        }
        var count = 0
        let scripts = UnsafeBufferPointer(start: gateway_scripts(&count), count: count)
        for script in scripts {
            files[String(cString: script.path)] = ServedFile(script, isLasting: false)
            files[String(cString: script.lasting_path)] = ServedFile(script, isLasting: true)
        }
        return files
    }()

    private init(_ file: gateway_file, isLasting: Bool) {
        let bytes = UnsafeRawBufferPointer(start: file.bytes, count: file.length)
        content = ByteBuffer(bytes: bytes)
        let path = String(cString: file.path)
        contentType =
            switch path.split(separator: ".").last ?? "" {
            case "html": "text/html; charset=utf-8"
            case "js": "text/javascript; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            case "svg": "image/svg+xml"
            case "yaml": "application/yaml"
            default: "application/octet-stream"
            }
        let code = MessageCode.make(over: Array(bytes), key: Array("etag".utf8))
        tag = "\"\(code.prefix(12).map { String($0, radix: 16) }.joined(separator: "-"))\""
        let compressed = UnsafeRawBufferPointer(start: file.gzipped, count: file.gzipped_length)
        gzipped = compressed.isEmpty ? nil : ByteBuffer(bytes: compressed)
        self.isLasting = isLasting
        isForAll = path.hasPrefix("web/") || path == "openapi.yaml"
    }

    /// - Parameters:
    ///   - sockets: where pages may open a WebSocket, beside this server.
    ///   - isSecure: whether the browser speaks TLS. Then it keeps to it.
    func response(to request: Request, sockets: [String], isSecure: Bool = false) -> Response {
        var headers: HTTPFields = [
            .contentType: contentType, .eTag: tag,
            .cacheControl: isLasting ? "public, max-age=31536000, immutable" : "no-cache",
            .xContentTypeOptions: "nosniff", .referrerPolicy: "no-referrer",
            .contentSecurityPolicy: Self.policy(sockets),
        ]
        if isSecure { headers[.strictTransportSecurity] = "max-age=31536000" }
        if isForAll {
            headers[.accessControlAllowOrigin] = "*"
            headers[.crossOriginResourcePolicy] = "cross-origin"
        }
        var body = content
        if let gzipped {
            headers[.vary] = "accept-encoding"
            if Self.takesGzip(request) {
                body = gzipped
                headers[.contentEncoding] = "gzip"
                // Another representation has another tag.
                headers[.eTag] = "\(tag.dropLast())-gzip\""
            }
        }
        if Self.has(headers[.eTag] ?? tag, request) {
            headers[.contentEncoding] = nil
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentLength] = "\(body.readableBytes)"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// Whether the one who asks has the content with this tag. A proxy that compresses calls a tag weak.
    private static func has(_ tag: String, _ request: Request) -> Bool {
        request.headers[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }.contains { item in
            let known = item.filter { !$0.isWhitespace }
            return known == "*" || known == tag || known == "W/\(tag)"
        }
    }

    private static func takesGzip(_ request: Request) -> Bool {
        let codings = request.headers[.acceptEncoding]?.lowercased().split(separator: ",") ?? []
        return codings.contains { coding in
            let parts = coding.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            return parts.first == "gzip"
                && !parts.dropFirst().contains { $0.hasPrefix("q=0") && Double($0.dropFirst(2)) == 0 }
        }
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
