import ArgumentParser
import Foundation
import RTMClient

struct DoctorRecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Explain the record of a client.",
        discussion: """
            Reads what an app has exported with flightRecord(), and says in sentences when the link was lost \
            and why, which calls failed or were slow, and what to do. `rtm doctor FILE` does the same.
            """)

    @Argument(help: "The exported JSON.", completion: .file())
    var file: String

    @Flag(help: "Write one JSON object.")
    var json = false

    func run() async throws {
        let output = Output(format: json ? .json : .human, transcript: Transcript())
        try await output.reportingErrors { try await output.explain(FlightRecord(file: file)) }
    }
}

extension Output {
    func explain(_ record: FlightRecord) async throws(OutputClosed) {
        let explanation = FlightExplanation(record)
        try await result(
            explanation.lines.joined(separator: "\n"), "record",
            [
                "record": .string(explanation.heading),
                "findings": .array(explanation.findings.map { .string($0) }),
            ])
    }
}

extension FlightRecord {
    /// - Throws: `.invalidParameter` (-10014) if the file can't be read, or is no record of this version.
    init(file: String) throws(RTMError) {
        func refusal(_ why: String) -> RTMError {
            RTMError(.invalidParameter, "'\(file)' \(why)", operation: "doctor")
        }
        guard let data = FileManager.default.contents(atPath: file) else { throw refusal("can't be read") }
        struct Form: Decodable { let version: Int }
        guard let form = try? JSONDecoder().decode(Form.self, from: data) else {
            throw refusal("is no record of a client")
        }
        guard form.version <= Self.currentVersion else {
            throw refusal("is of version \(form.version), and this rtm reads up to \(Self.currentVersion)")
        }
        do { self = try JSONDecoder().decode(FlightRecord.self, from: data) } catch {
            throw refusal("is no record of a client")
        }
    }
}
