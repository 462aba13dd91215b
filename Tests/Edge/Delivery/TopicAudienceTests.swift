import RTMModel
import RTMTestSupport
import Testing

@testable import RTMEdgeServer

/// Who wants whose messages in a topic, against a plain table of names (C-8).
@Suite struct TopicAudienceTests {
    private func session(_ number: UInt64) -> SessionID { SessionID(rawValue: number) }

    @Test("C-8: a subscriber wants the publishers that it names, and no others")
    func wants() throws {
        var audience = TopicAudience()
        audience.set(["anna", "ben"], of: session(1))
        audience.set(["ben"], of: session(2))
        let anna = try #require(audience.number(of: "anna"))
        let ben = try #require(audience.number(of: "ben"))
        #expect(audience.wants(session(1), anna) && audience.wants(session(1), ben))
        #expect(!audience.wants(session(2), anna) && audience.wants(session(2), ben))
        #expect(!audience.wants(session(3), ben))
        #expect(audience.number(of: "cleo") == nil, "nobody wants her")
        audience.set(["anna"], of: session(2))
        #expect(audience.wants(session(2), anna) && !audience.wants(session(2), ben))
        audience.remove(session(1))
        #expect(audience.number(of: "ben") == nil)
        audience.remove(session(2))
        #expect(audience.isEmpty)
    }

    @Test("a generated history agrees with a table of names", arguments: series(of: 12))
    func histories(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var audience = TopicAudience()
        var model: [UInt64: Set<String>] = [:]
        let names = (0..<Int.random(in: 2...200, using: &random)).map { "user\($0)" }
        for step in 0..<300 {
            let subscriber = UInt64.random(in: 1...12, using: &random)
            if Bool.random(using: &random) || model[subscriber] == nil {
                let wanted = (0..<Int.random(in: 0...64, using: &random))
                    .map { _ in names[Int.random(in: names.indices, using: &random)] }
                audience.set(wanted, of: session(subscriber))
                model[subscriber] = Set(wanted)
            } else {
                audience.remove(session(subscriber))
                model[subscriber] = nil
            }
            let wanted = model.values.reduce(into: Set<String>()) { $0.formUnion($1) }
            var batch = PublisherSet()
            var publishers: Set<String> = []
            for name in names {
                let number = audience.number(of: name)
                #expect((number != nil) == wanted.contains(name), "step \(step): \(name)")
                guard let number else { continue }
                for subscriber in UInt64(1)...12 {
                    let isWanted = model[subscriber]?.contains(name) == true
                    #expect(audience.wants(session(subscriber), number) == isWanted)
                }
                guard Int.random(in: 0..<8, using: &random) == 0 else { continue }
                batch.insert(number)
                publishers.insert(name)
            }
            for subscriber in UInt64(1)...12 {
                let wantsAll = model[subscriber, default: []].isSuperset(of: publishers)
                #expect(audience.wants(session(subscriber), all: batch) == wantsAll, "step \(step)")
            }
        }
    }
}
