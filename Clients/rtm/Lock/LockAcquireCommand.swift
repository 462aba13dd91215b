import ArgumentParser
import Foundation
import RTMClient

struct LockAcquireCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "acquire",
        abstract: "Own a lock: until interrupted, or while a command runs.",
        discussion: """
            rtm lock acquire lobby manage
            rtm lock acquire lobby manage -- sh -c 'deploy --fence $RTM_FENCING_TOKEN'

            The fencing token is printed, and the command finds it in RTM_FENCING_TOKEN: it is greater than \
            that of every earlier owner. The exit status is the command's. If the lock is lost meanwhile the \
            command is ended by SIGTERM, and the exit status is 1.
            """)

    @OptionGroup var lock: LockArguments

    @Flag(help: "Fail at once if another user owns it, instead of waiting.")
    var noWait = false

    @Argument(parsing: .postTerminator, help: "Command to run while the lock is owned.")
    var command: [String] = []

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run(whenInterrupted: command.isEmpty ? .success : .interrupted) {
            try await common.withClient(common.settings(), naming: lock.names) { client in
                let events = client.events()
                if lock.type == .message {
                    // The subscription brings the event that the lock was taken away, and so does a join.
                    try await client.subscribe(to: lock.channel, features: [.lock, .quiet])
                }
                try await lock.kind.joined(client, lock.channel) {
                    try await client.withLock(
                        lock.name, in: lock.channel, type: lock.type, waits: !noWait
                    ) { token in
                        try await announce(token)
                        try await hold(token, events)
                    }
                }
            }
        }
    }

    private func announce(_ token: UInt64) async throws {
        let end = command.isEmpty ? "; Ctrl-C releases it" : ""
        try await common.output.status(
            "lock '\(lock.name)' of \(lock.channel) is owned, fencing token \(token)\(end)", "acquired",
            [
                "lockName": .string(lock.name), "channelName": .string(lock.channel),
                "fencingToken": .number(token),
            ])
    }

    private func hold(_ token: UInt64, _ events: RTMEvents) async throws {
        let work: @Sendable () async throws -> ExitCode = {
            guard !command.isEmpty else {
                try await Task.sleep(for: .seconds(Int64.max / 4))
                return .success
            }
            return try await ChildCommand(command, environment: ["RTM_FENCING_TOKEN": String(token)]).run()
        }
        let status = try await race(work, { try await waitForLoss(of: token, events) })
        if let status, status != .success { throw status }
    }

    /// Waits until the lock is lost. It returns only by an error.
    private func waitForLoss(of token: UInt64, _ events: RTMEvents) async throws -> ExitCode {
        for await event in events {
            switch event {
            case .lock(let change) where change.channelName == lock.channel:
                guard let detail = change.locks.first(where: { $0.name == lock.name }) else { continue }
                guard change.isLoss(of: token, detail) else { continue }
                throw RTMError(
                    .lockNotAcquired, "the lock '\(lock.name)' was lost: \(change.kind)",
                    operation: "acquireLock")
            case .linkState(let change):
                if let error = change.failure { throw error }
            default: continue
            }
        }
        throw CancellationError()
    }
}

extension LockEvent {
    func isLoss(of token: UInt64, _ detail: LockDetail) -> Bool {
        switch kind {
        case .released, .removed: detail.fencingToken >= token
        case .acquired: detail.fencingToken > token
        case .expired: true
        case .snapshot, .set: false
        }
    }
}

/// A command that runs beside this one and shares its standard streams.
struct ChildCommand: Sendable {
    private let arguments: [String]
    private let environment: [String: String]

    init(_ arguments: [String], environment: [String: String]) {
        self.arguments = arguments
        self.environment = environment
    }

    /// Runs the command to its end and returns its exit status. A cancellation ends it by SIGTERM.
    ///
    /// - Throws: `.invalidParameter` (-10014) when the command can't be started.
    func run() async throws -> ExitCode {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (ends, continuation) = AsyncStream.makeStream(
            of: Int32.self, bufferingPolicy: .bufferingNewest(1))
        process.terminationHandler = { process in
            let isSignal = process.terminationReason == .uncaughtSignal
            continuation.yield(isSignal ? 128 + process.terminationStatus : process.terminationStatus)
            continuation.finish()
        }
        do {
            try process.run()
        } catch {
            throw RTMError(
                .invalidParameter, "'\(arguments[0])' can't be started: \(error.localizedDescription)",
                operation: "acquireLock")
        }
        for await status in ends { return ExitCode(status) }
        // The stream ends without a status only when the task is cancelled.
        process.terminate()
        process.waitUntilExit()
        throw CancellationError()
    }
}
