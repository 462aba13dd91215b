package import NIOCore
package import RTMCredentials
package import RTMServiceKit
import Synchronization

/// The hooks of the configuration, each with its caller, for all event loops of a process.
package final class PublishHookCallers: Service {
    /// Makes what asks a hook.
    package typealias Make =
        @Sendable (PublishHookRecord, WebhookTarget, Configuration, any EventLoopGroup)
        -> any PublishHookCaller

    package let name = "hooks"
    private let make: Make
    private let eventLoopGroup: any EventLoopGroup
    private let hooks = Mutex<[PublishHook]>([])

    package init(_ make: @escaping Make, on eventLoopGroup: any EventLoopGroup) {
        (self.make, self.eventLoopGroup) = (make, eventLoopGroup)
    }

    /// The hooks of this configuration by app. One that was there before keeps its connections.
    package func take(_ configuration: Configuration) -> [String: PublishHook] {
        let (current, dropped) = hooks.withLock { hooks -> ([PublishHook], [PublishHook]) in
            let before = hooks
            hooks = configuration[PublishHookKeys.hooks].compactMap { record in
                if let kept = before.first(where: { $0.record == record }) { return kept }
                guard let target = record.target else { return nil }
                return PublishHook(record, make(record, target, configuration, eventLoopGroup))
            }
            let kept = Set(hooks.map(\.record))
            return (hooks, before.filter { !kept.contains($0.record) })
        }
        for hook in dropped {
            // Unstructured: the questions that are under way get their answers first.
            Task {
                try? await Task.sleep(for: hook.record.deadline)
                await hook.caller.shutdown()
            }
        }
        return Dictionary(current.map { ($0.record.app, $0) }) { first, _ in first }
    }

    package func shutdown(deadline: ContinuousClock.Instant) async {
        for hook in hooks.withLock({ $0 }) { await hook.caller.shutdown() }
    }
}
