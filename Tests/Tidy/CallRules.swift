/// A call between services has one place where it is answered, and no table of who waits for it.
enum CallRules {
    /// Which code keeps what it has asked in tables of contexts: what is asked for every message.
    private static let withContexts = [
        "Shared/ServiceLink/", "Services/Edge/", "Services/Presence/Client/",
        "Services/Presence/Server/Events/",
        "Services/Storage/Server/Events/", "Tests/",
    ]

    /// Methods of the schema that their service doesn't answer in exactly one file.
    ///
    /// - Parameter files: with those that are generated of the schema.
    static func answers(in files: [SwiftFile]) -> [Violation] {
        files.flatMap { schema in
            schema.code.enumerated().compactMap { number, line in
                guard let method = line.firstMatch(of: /static var (\w+): ServiceMethod</)?.1 else {
                    return nil
                }
                let service = service(of: number, in: schema)
                let answering = files.filter { file in
                    file.path.hasPrefix("Services/\(service)/Server/")
                        && file.code.contains { answers(to: "\(service)Method.\(method)", $0) }
                }
                guard answering.count != 1 else { return nil }
                return Violation(
                    path: schema.path, line: number + 1,
                    advice: "\(service) answers \(method) in \(answering.count) files, one is right")
            }
        }
    }

    static func contexts(in files: [SwiftFile]) -> [Violation] {
        files.filter { file in !withContexts.contains { file.path.hasPrefix($0) } }.flatMap { file in
            file.code.enumerated().filter { $0.element.contains("RequestContexts<") }.map { number, _ in
                Violation(
                    path: file.path, line: number + 1,
                    advice: "a call that isn't made for every message is answered by a closure")
            }
        }
    }

    /// The service whose methods stand there: `enum StorageMethod`.
    private static func service(of line: Int, in schema: SwiftFile) -> Substring {
        let above = schema.code[..<line].reversed().lazy
        return above.compactMap { $0.firstMatch(of: /enum (\w+)Method\b/)?.1 }.first ?? ""
    }

    private static func answers(to method: String, _ line: String) -> Bool {
        guard let place = line.firstRange(of: "case \(method)") else { return false }
        return line[place.upperBound...].first.map { !$0.isLetter && !$0.isNumber } ?? true
    }
}
