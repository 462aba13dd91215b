import Testing

/// docs/behaviour.md and those who cite it agree.
@Suite("The rules of behaviour")
struct BehaviourTests {
    @Test("the document has its rules, each once")
    func rulesAreThere() {
        let rules = BehaviourDocument.house.rules
        #expect(rules.count > 250, "found \(rules.count) rules in \(BehaviourDocument.path)")
        let twice = Dictionary(grouping: rules, by: \.self).filter { $0.value.count > 1 }.keys.sorted()
        #expect(twice.isEmpty, "stand there twice: \(twice)")
    }

    @Test("every rule that is cited anywhere is in the document")
    func citedRulesExist() {
        let rules = Set(BehaviourDocument.house.rules)
        for path in Self.citingPaths {
            for (id, line) in Citations.all(in: SourceTree.text(of: path)) where !rules.contains(id) {
                Issue.record("\(path):\(line): \(id) is no rule of \(BehaviourDocument.path)")
            }
        }
    }

    @Test("every rule has a test that cites it, or a reason why it has none")
    func rulesHaveTests() {
        let document = BehaviourDocument.house
        let cited = SourceTree.tests.filter { !$0.path.hasPrefix("Tests/Tidy/") }
            .reduce(into: Set<String>()) { ids, file in
                ids.formUnion(Citations.ids(in: file.lines.joined(separator: "\n")))
            }
        let untested = Set(document.untested)
        let forgotten = document.rules.filter { !cited.contains($0) && !untested.contains($0) }
        #expect(forgotten.isEmpty, "cite them in a test, or say at the document's end why not: \(forgotten)")
        let tested = document.untested.filter(cited.contains)
        #expect(tested.isEmpty, "have a test: take them out of the table of those that have none: \(tested)")
        let unknown = untested.subtracting(document.rules).sorted()
        #expect(unknown.isEmpty, "stand in that table and are no rules: \(unknown)")
    }

    /// What people read and write. Tests/Tidy has ids that mean nothing.
    private static let citingPaths = SourceTree.paths.filter { path in
        let endings = [".swift", ".lua", ".proto", ".md"]
        return endings.contains { path.hasSuffix($0) } && !path.hasPrefix("Tests/Tidy/")
    }
}
