import Foundation
import Testing

/// What is generated from protocol/schema is committed, so that a build needs no generator. It has to be what
/// the generators write.
@Suite("Generated code")
struct GeneratedCodeTests {
    @Test(
        "the generated code is what protocol/generate.sh writes",
        .enabled("protoc, protoc-c, protoc-gen-swift or python3 is not installed (protocol/generate.sh)") {
            Self.check.status != Self.generatorIsMissing
        })
    func isUpToDate() {
        #expect(Self.check.status == 0, "run 'make generate' and commit the result\n\(Self.check.output)")
    }

    private static let generatorIsMissing: Int32 = 3
    private static let check: (status: Int32, output: String) =
        (try? Program.run("protocol/generate.sh", "--check")) ?? (-1, "protocol/generate.sh can't be started")
}
