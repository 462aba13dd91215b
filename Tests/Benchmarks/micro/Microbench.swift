/// Runs the steps on the path of a message one at a time, without sockets, threads or clocks. The number of
/// instructions of a step therefore doesn't depend on what else the machine does. `measure.py` runs this
/// program under valgrind and compares the numbers with `baseline.txt`.
///
///     rtm-microbench list                      names, and how many operations are a batch
///     rtm-microbench count NAME BATCHES        runs that many batches, to be watched from outside
///     rtm-microbench time [NAME ...]           nanoseconds per operation, the best of several rounds
@main
struct Microbench {
    static let cases = wireCases + linkCases + logCases + fanOutCases + pathCases + encryptionCases

    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.dropFirst()) {
        case ("list", _):
            for item in cases { print("\(item.name)\t\(item.batch)") }
        case ("count", let rest):
            guard let item = cases.first(where: { $0.name == rest.first }),
                let batches = rest.last.flatMap(Int.init)
            else { throw BenchmarkError("there is no such case") }
            var prepared = try item.prepared()
            for _ in 0..<batches { try item.runBatch(&prepared) }
        case ("time", let names):
            for item in cases where names.isEmpty || names.contains(item.name) {
                print("\(item.name)\t\(try item.nanoseconds())")
            }
        case (let other, _):
            throw BenchmarkError("list, count or time, not \(other ?? "nothing")")
        }
    }
}
