// What RTMClient uses of Apple's Network.framework, as its documents declare it, so that the branches for
// Apple's platforms can be type-checked where the framework is missing. Nothing here does anything.

public import Dispatch

public final class NWPathMonitor: Sendable {
    public init() {}
    public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { nil }
        set {}
    }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}

public struct NWPath: Sendable, Equatable {
    public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
    public var status: Status { .satisfied }
    public var availableInterfaces: [NWInterface] { [] }
}

public struct NWInterface: Sendable, Hashable {
    public var name: String { "" }
}

public class NWParameters {
    public var requiredInterface: NWInterface?
}

public struct POSIXErrorCode: RawRepresentable, Sendable, Hashable {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
}

public enum NWError: Error, Equatable, Sendable {
    case posix(POSIXErrorCode)
    case dns(Int32)
    case tls(Int32)
}
