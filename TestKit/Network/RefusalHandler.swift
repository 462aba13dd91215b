import NIOCore
import RTMModel
import RTMProtocol
import SwiftProtobuf

/// What an edge is to refuse in the next calls of a user.
final class Refusals {
    struct Refusal {
        let call: TestWorld.Call
        let error: RTMError
        var times: Int
    }

    /// By user.
    private var waiting: [String: [Refusal]] = [:]

    func isNone(for user: String) -> Bool { waiting[user] == nil }

    func add(_ refusal: Refusal, for user: String) { waiting[user, default: []].append(refusal) }

    func take(_ call: TestWorld.Call, of user: String) -> RTMError? {
        guard var refusals = waiting[user], let index = refusals.firstIndex(where: { $0.call == call }) else {
            return nil
        }
        let error = refusals[index].error
        refusals[index].times -= 1
        if refusals[index].times == 0 { refusals.remove(at: index) }
        waiting[user] = refusals.isEmpty ? nil : refusals
        return error
    }
}

/// Stands in front of an edge and answers those requests of a client that are to be refused. The edge
/// receives nothing of them.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let refusals: Refusals
    private let user: String
    private var unread = ByteBuffer()

    init(_ refusals: Refusals, of user: String) {
        self.refusals = refusals
        self.user = user
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if unread.readableBytes == 0, refusals.isNone(for: user) {
            return context.fireChannelRead(wrapInboundOut(bytes))
        }
        unread.writeBuffer(&bytes)
        var passed = ByteBuffer()
        while let frame = nextFrame() {
            if let refusal = refusal(of: frame) {
                context.writeAndFlush(wrapOutboundOut(refusal), promise: nil)
            } else {
                passed.writeImmutableBuffer(frame)
            }
        }
        if passed.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(passed)) }
    }

    /// With the length in front.
    private func nextFrame() -> ByteBuffer? {
        guard let length = unread.getInteger(at: unread.readerIndex, as: UInt32.self) else { return nil }
        return unread.readSlice(length: MemoryLayout<UInt32>.size + Int(length))
    }

    private func refusal(of frame: ByteBuffer) -> ByteBuffer? {
        let body = frame.readableBytesView.dropFirst(MemoryLayout<UInt32>.size)
        guard let request = try? Rtm_Client_ClientFrame(serializedBytes: Array(body)),
            let call = request.body.flatMap(TestWorld.Call.init),
            let error = refusals.take(call, of: user)
        else { return nil }
        let answer = Rtm_Client_ServerFrame.with {
            $0.requestID = request.requestID
            $0.error.code = .init(rawValue: error.code.rawValue) ?? .UNRECOGNIZED(error.code.rawValue)
            $0.error.reason = error.reason
            let wait = error.retryAfter.map { $0 / .milliseconds(1) } ?? 0
            $0.error.retryAfterMs = .init(wait)
        }
        guard let bytes: [UInt8] = try? answer.serializedBytes() else { return nil }
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt32(bytes.count))
        buffer.writeBytes(bytes)
        return buffer
    }
}

extension TestWorld.Call {
    fileprivate init?(_ body: Rtm_Client_ClientFrame.OneOf_Body) {
        switch body {
        case .hello, .logout, .heartbeat: return nil
        case .login: self = .login
        case .renewToken: self = .renewToken
        case .subscribe: self = .subscribe
        case .unsubscribe: self = .unsubscribe
        case .publish: self = .publish
        case .whoNow, .whereNow, .setState, .getState, .removeState: self = .presence
        case .writeMetadata, .getMetadata, .subscribeUserMetadata, .unsubscribeUserMetadata: self = .metadata
        case .setLock, .removeLock, .acquireLock, .releaseLock, .revokeLock, .getLocks: self = .lock
        case .getHistory: self = .history
        }
    }
}
