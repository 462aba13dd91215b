import Foundation
import Testing

/// What operators watch names only metrics that exist: docs/metrics.md lists them all, as
/// DocumentTests makes sure.
@Suite("Dashboards and alerts")
struct DashboardTests {
    @Test(
        "the dashboards are those of docs/metrics.md, and no panel and no alert names a metric that isn't there",
        .enabled("python3 is not installed") { FileManager.default.fileExists(atPath: "/usr/bin/python3") })
    func dashboards() throws {
        let outcome = try Program.run("/usr/bin/python3", "compose/observe/dashboards.py", "--check")
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test("docs/metrics.md names no metric that isn't there")
    func metrics() {
        let code = SourceTree.sources.flatMap(\.lines).filter {
            $0.contains("\"rtm_") || $0.contains("\"process_")
        }
        .joined(separator: "\n")
        let rows = SourceTree.text(of: "docs/metrics.md")
            .matches(of: #/\n\| `(?<name>[a-z_]+)` \| (?:counter|gauge|histogram) \|/#)
        #expect(rows.count > 50)
        for row in rows { #expect(code.contains("\"\(row.name)\""), "\(row.name) is in no source") }
    }

    @Test("docs/operations/alerts.md says of each alert what to do")
    func alerts() {
        let names = SourceTree.text(of: "compose/observe/alerts.yaml").matches(of: #/- alert: (?<name>\w+)/#)
        #expect(names.count > 10)
        let page = SourceTree.text(of: "docs/operations/alerts.md")
        for name in names { #expect(page.contains("| \(name.name) |"), "\(name.name) is missing") }
    }

    @Test(
        "the alerts fire when they should, and not otherwise",
        .enabled("promtool is not installed (Debian's package prometheus)") {
            FileManager.default.fileExists(atPath: "/usr/bin/promtool")
        })
    func firing() throws {
        let outcome = try Program.run(
            "/usr/bin/promtool", "test", "rules", "compose/observe/alerts.test.yaml")
        #expect(outcome.status == 0, "\(outcome.output)")
    }
}
