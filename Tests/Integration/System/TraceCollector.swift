import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import RTMTestSupport
import Testing

/// A collector of OpenTelemetry, as far as a test needs one: it keeps the spans that arrive over HTTP.
final class TraceCollector: Sendable {
    struct Span: Sendable, Hashable {
        let program: String
        let trace: String
        let id: String
        let parent: String
        let name: String
        let kind: Int
        let error: String?
        let attributes: [String: String]
    }

    private let received = Shared([Span]())
    private let status = Shared(HTTPResponseStatus.ok)
    private let channel: any Channel

    init() async throws {
        let (received, status) = (received, status)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(Intake(received, status))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var address: String { "127.0.0.1:\(channel.localAddress?.port ?? 0)" }
    var spans: [Span] { received.present }

    /// From now on it takes nothing.
    func refuse() { status.withLock { $0 = .serviceUnavailable } }

    func end() async { try? await channel.close() }

    /// The spans of the trace that begins with such a request, once there are so many of them.
    func trace(of name: String, count: Int) async throws -> [Span] {
        var found: [Span] = []
        try await eventually("a trace of \(name) with \(count) spans; there are \(spans.map(\.name))") {
            let roots = spans.filter { $0.name == name && $0.parent.isEmpty }
            found =
                roots.map { root in spans.filter { $0.trace == root.trace } }.max { $0.count < $1.count }
                ?? []
            return found.count >= count
        }
        return found
    }

    private final class Intake: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let received: Shared<[Span]>
        private let status: Shared<HTTPResponseStatus>
        private var isRight = false
        private var body = ByteBuffer()

        init(_ received: Shared<[Span]>, _ status: Shared<HTTPResponseStatus>) {
            self.received = received
            self.status = status
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                isRight =
                    head.method == .POST && head.uri == "/v1/traces"
                    && head.headers.first(name: "content-type") == "application/json"
            case .body(var part): body.writeBuffer(&part)
            case .end:
                let spans = Export.spans(Data(body.readableBytesView))
                let answer = isRight && spans != nil ? status.present : .badRequest
                if answer == .ok, let spans { received.withLock { $0 += spans } }
                let head = HTTPResponseHead(
                    version: .http1_1, status: answer, headers: ["Content-Length": "2"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "{}")))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}

/// The JSON of OTLP.
private struct Export: Decodable {
    struct Attribute: Decodable {
        struct Value: Decodable { let stringValue: String }
        let key: String
        let value: Value
    }
    struct Status: Decodable { let message: String }
    struct Span: Decodable {
        let traceId, spanId, name, startTimeUnixNano, endTimeUnixNano: String
        let parentSpanId: String?
        let kind: Int
        let attributes: [Attribute]
        let status: Status?
    }
    struct Scope: Decodable { let spans: [Span] }
    struct Resource: Decodable { let attributes: [Attribute] }
    struct Resources: Decodable {
        let resource: Resource
        let scopeSpans: [Scope]
    }
    let resourceSpans: [Resources]

    static func spans(_ body: Data) -> [TraceCollector.Span]? {
        guard let export = try? JSONDecoder().decode(Export.self, from: body) else { return nil }
        return export.resourceSpans.flatMap { resource in
            let program =
                resource.resource.attributes.first { $0.key == "service.name" }?.value.stringValue ?? ""
            return resource.scopeSpans.flatMap(\.spans).map { span in
                TraceCollector.Span(
                    program: program, trace: span.traceId, id: span.spanId, parent: span.parentSpanId ?? "",
                    name: span.name, kind: span.kind, error: span.status?.message,
                    attributes: Dictionary(
                        span.attributes.map { ($0.key, $0.value.stringValue) }, uniquingKeysWith: { $1 }))
            }
        }
    }
}
