package import Foundation

#if os(Linux)
    import CSpawn
    import Synchronization

    /// A program that runs beside the test: as much of Foundation's Process as tests use.
    ///
    /// Foundation's own keeps what its children wrote to open for ever, hundreds of descriptors in a whole
    /// run, and from 1,300 on it reads behind the list of them: the run then crashed by chance.
    // Safety: what is set before run() isn't set after it, and the outcome is under a lock.
    package final class ChildProcess: @unchecked Sendable {
        package var executableURL: URL?
        package var arguments: [String]?
        package var currentDirectoryURL: URL?
        /// Nil means that of the test.
        package var environment: [String: String]?
        /// Each is a FileHandle or a Pipe; nil means that of the test.
        package var standardInput, standardOutput, standardError: Any?
        private let outcome = Mutex<(pid: pid_t, status: Int32?)>((0, nil))

        package init() {}

        package var processIdentifier: Int32 { outcome.withLock { $0.pid } }
        package var isRunning: Bool { status(WNOHANG) == nil }
        /// What the program ended with, or the number of the signal that ended it.
        package var terminationStatus: Int32 { status(0) ?? 0 }

        package func waitUntilExit() { _ = status(0) }
        package func interrupt() { _ = kill(processIdentifier, SIGINT) }
        package func terminate() { if isRunning { kill(processIdentifier, SIGTERM) } }

        /// Nil while it runs.
        private func status(_ options: Int32) -> Int32? {
            outcome.withLock { outcome in
                guard outcome.pid > 0, outcome.status == nil else { return outcome.status }
                var raw: Int32 = 0
                var ended: pid_t
                repeat { ended = waitpid(outcome.pid, &raw, options) } while ended < 0 && errno == EINTR
                if ended == outcome.pid { outcome.status = raw & 0x7f == 0 ? (raw >> 8) & 0xff : raw & 0x7f }
                return outcome.status
            }
        }

        package func run() throws {
            let streams = [(standardInput, true), (standardOutput, false), (standardError, false)]
            let descriptors = streams.map { Self.descriptor($0, isInput: $1) }
            let program = executableURL?.path ?? ""
            let words = ([program] + (arguments ?? [])).map { strdup($0) } + [nil]
            let inherited = ProcessInfo.processInfo.environment
            let variables = (environment ?? inherited).map { strdup("\($0)=\($1)") } + [nil]
            defer { for text in words + variables { free(text) } }
            var pid: pid_t = 0
            let error = spawn_child(&pid, program, words, variables, currentDirectoryURL?.path, descriptors)
            guard error == 0 else {
                throw ServiceProcessFailure(description: "\(program): \(String(cString: strerror(error)))")
            }
            outcome.withLock { $0.pid = pid }
            for (stream, isInput) in streams {
                guard let pipe = stream as? Pipe else { continue }
                try? (isInput ? pipe.fileHandleForReading : pipe.fileHandleForWriting).close()
            }
        }

        private static func descriptor(_ stream: Any?, isInput: Bool) -> Int32 {
            switch stream {
            case let file as FileHandle where file === FileHandle.nullDevice: Int32(SPAWN_NULL)
            case let file as FileHandle: file.fileDescriptor
            case let pipe as Pipe where isInput: pipe.fileHandleForReading.fileDescriptor
            case let pipe as Pipe: pipe.fileHandleForWriting.fileDescriptor
            default: Int32(SPAWN_INHERIT)
            }
        }
    }
#else
    package typealias ChildProcess = Process
#endif
