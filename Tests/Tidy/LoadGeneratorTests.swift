import Foundation
import Testing

/// The load generator is no target of the package, so nothing else would notice that it no longer compiles.
/// What it does is checked by its own `make check`, which `make bench WHAT=peers` runs first.
@Suite("Load generator")
struct LoadGeneratorTests {
    @Test(
        "The load generator and the ceiling compile without a warning",
        .enabled("gcc or libssl-dev is not installed") {
            ["/usr/bin/gcc", "/usr/bin/make", "/usr/include/openssl/ssl.h"].allSatisfy(
                FileManager.default.fileExists(atPath:))
        })
    func compiles() throws {
        let load = SourceTree.root.appending(path: "Tests/Benchmarks/load").path()
        let outcome = try Program.run("/usr/bin/make", "-C", load, "syntax")
        #expect(outcome.status == 0, "\(outcome.output)")
    }
}
