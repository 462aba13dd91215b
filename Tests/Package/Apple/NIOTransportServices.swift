// What RTMClient uses of swift-nio-transport-services, which compiles on Apple's platforms only. Nothing here
// does anything.

public import Dispatch
public import NIOCore
public import Network

public final class NIOTSEventLoopGroup: EventLoopGroup {
    public static var singleton: NIOTSEventLoopGroup { NIOTSEventLoopGroup() }
    public func next() -> any EventLoop { preconditionFailure("a stub runs nothing") }
    public func makeIterator() -> EventLoopIterator { EventLoopIterator([]) }
    public func shutdownGracefully(
        queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void
    ) {}
}

public final class NIOTSConnectionBootstrap: NIOClientTCPBootstrapProtocol {
    public init?(validatingGroup group: any EventLoopGroup) { nil }
    public func channelInitializer(
        _ handler: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> Self { self }
    public func protocolHandlers(_ handlers: @escaping @Sendable () -> [any ChannelHandler]) -> Self { self }
    public func channelOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> Self { self }
    public func configureNWParameters(_ configurator: @Sendable @escaping (NWParameters) -> Void) -> Self {
        self
    }
    public func connectTimeout(_ timeout: TimeAmount) -> Self { self }
    public func connect(host: String, port: Int) -> EventLoopFuture<any Channel> { nowhere() }
    public func connect(to address: SocketAddress) -> EventLoopFuture<any Channel> { nowhere() }
    public func connect(unixDomainSocketPath: String) -> EventLoopFuture<any Channel> { nowhere() }

    private func nowhere() -> EventLoopFuture<any Channel> { preconditionFailure("a stub runs nothing") }
}

public struct NIOTSChannelOptions: Sendable {
    public static let waitForActivity = Types.NIOTSWaitForActivityOption()

    public enum Types {
        public struct NIOTSWaitForActivityOption: ChannelOption, Equatable {
            public typealias Value = Bool
        }
    }
}
