/// How a process ends, as its parent sees it.
package struct ExitCode: Sendable, Hashable {
    package let rawValue: Int32

    /// The process did what was asked, which includes a shutdown by signal.
    package static let ok = ExitCode(rawValue: 0)
    /// The running program that `--probe` asks is not ready.
    package static let notReady = ExitCode(rawValue: 1)
    /// A command found nothing that it could be applied to.
    package static let nothingFound = ExitCode(rawValue: 1)
    /// The configuration or the command line is wrong: starting again won't help.
    package static let configuration = ExitCode(rawValue: 2)
    /// A dependency is unavailable or an address can't be bound: starting again later may help.
    package static let unavailable = ExitCode(rawValue: 3)
    /// Anything else; a bug until proven otherwise.
    package static let `internal` = ExitCode(rawValue: 4)

    /// The process was ended by a second signal. The code is what a shell reports: 128 plus the number.
    package static func signal(_ number: Int32) -> ExitCode { ExitCode(rawValue: 128 + number) }
}
