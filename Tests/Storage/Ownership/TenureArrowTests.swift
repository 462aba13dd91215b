import RTMServiceKit
import Testing

@testable import RTMStorageServer

/// One test for each arrow of the diagram in docs/decisions/0030-storage-on-postgresql.md.
@Suite("D-19: the arrows of a shard's tenure") struct TenureArrowTests {
    @Test(
        "an event leads from a state to the next one, and the shard learns of it", arguments: TenureArrow.all)
    func arrow(_ arrow: TenureArrow) {
        var tenure = arrow.from.tenure
        #expect(TenureStage(tenure.state) == arrow.from && tenure.changes.isEmpty)
        arrow.event(&tenure)
        #expect(TenureStage(tenure.state) == arrow.to)
        #expect(tenure.takeChanges() == arrow.changes && tenure.changes.isEmpty)
    }

    @Test("the diagram in the decision has these arrows and no others")
    func diagram() throws {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let text = try TextFile.read("/\(root)/docs/decisions/0030-storage-on-postgresql.md")
        let drawn = text.split(separator: "\n").filter { $0.contains(" --> ") }
            .map { String($0.drop { $0 == " " }) }
        #expect(drawn.sorted() == TenureArrow.all.map(\.description).sorted())
    }

    @Test("whatever happens in a state, no state follows that isn't drawn")
    func noOthers() {
        let drawn = Set(TenureArrow.all.map { "\($0.from) \($0.to)" })
        for from in TenureStage.allCases {
            var events: [(String, TenureArrow.Event)] = [
                ("wanted", { _ = $0.nextStep(isWanted: true, now: 1) }),
                ("not wanted", { _ = $0.nextStep(isWanted: false, now: 1) }),
                ("released", { $0.released() }),
            ]
            for kind in StoreFailure.Kind.allCases { events.append(("\(kind)", { $0.failed(kind, now: 1) })) }
            // Where there are no terms, none comes.
            let term: UInt64? = from == .alone ? nil : 8
            events.append(("began", { $0.began(term: term) }))
            for (name, event) in events {
                var tenure = from.tenure
                event(&tenure)
                let to = TenureStage(tenure.state)
                #expect(to == from || drawn.contains("\(from) \(to)"), "\(from) --> \(to): \(name)")
            }
        }
    }

    @Test("what the thread does next follows from the state")
    func steps() {
        for stage in TenureStage.allCases {
            var (wanted, unwanted) = (stage.tenure, stage.tenure)
            let asks = stage == .waiting || stage == .taking
            #expect(wanted.nextStep(isWanted: true, now: 1) == (asks ? .ask : .run), "\(stage)")
            let releases = stage == .taking || stage == .serving
            #expect(unwanted.nextStep(isWanted: false, now: 1) == (releases ? .release : .run), "\(stage)")
            // Nothing else wakes for the tenure, so a node that wants nothing sleeps.
            #expect((stage.tenure.deadline != nil) == (stage == .taking), "\(stage)")
            #expect(stage.tenure.isKnown == (stage == .alone || stage == .serving), "\(stage)")
        }
    }

    @Test(
        "a shard is asked for ten times a second while another node has it, and at once if it is wanted anew")
    func pace() {
        var tenure = ShardTenure(hasOthers: true)
        #expect(tenure.nextStep(isWanted: true, now: 5_000) == .ask)
        tenure.failed(.fenced, now: 5_000)
        #expect(tenure.deadline == 5_100)
        #expect(tenure.nextStep(isWanted: true, now: 5_099) == .run)
        #expect(tenure.nextStep(isWanted: true, now: 5_100) == .ask)
        tenure.failed(.unreachable, now: 5_100)
        #expect(tenure.deadline == 6_100)
        #expect(tenure.nextStep(isWanted: false, now: 5_200) == .release)
        tenure.released()
        #expect(tenure.nextStep(isWanted: true, now: 5_201) == .ask)
    }
}

/// The states of the diagram.
enum TenureStage: String, CaseIterable {
    case alone, waiting, taking, serving, releasing, doubt, stopped

    init(_ state: ShardTenure.State) {
        self =
            switch state {
            case .alone: .alone
            case .waiting: .waiting
            case .taking: .taking
            case .serving: .serving
            case .releasing: .releasing
            case .doubt: .doubt
            case .stopped: .stopped
            }
    }

    /// A tenure in this state at the time 0, of which the shard has learned everything. It serves in term 7.
    var tenure: ShardTenure {
        var it = ShardTenure(hasOthers: self != .alone)
        switch self {
        case .alone, .waiting: break
        case .taking: _ = it.nextStep(isWanted: true, now: 0)
        case .serving: it.began(term: 7)
        case .releasing:
            it.began(term: 7)
            _ = it.nextStep(isWanted: false, now: 0)
        case .doubt:
            it.began(term: 7)
            it.failed(.stalled, now: 0)
        case .stopped: it.stop()
        }
        _ = it.takeChanges()
        return it
    }
}

/// One arrow: in this state this event leads to that state, and these are the changes that the shard learns.
struct TenureArrow: CustomStringConvertible, Sendable {
    typealias Event = @Sendable (inout ShardTenure) -> Void

    let from: TenureStage
    let to: TenureStage
    let name: String
    let changes: [ShardTenure.Change]
    let event: Event

    init(
        _ from: TenureStage, _ to: TenureStage, _ name: String, _ changes: [ShardTenure.Change] = [],
        _ event: @escaping Event
    ) {
        (self.from, self.to, self.name, self.changes, self.event) = (from, to, name, changes, event)
    }

    var description: String { "\(from.rawValue) --> \(to.rawValue): \(name)" }

    static let all = taking + serving + doubt + ends

    private static let taking = [
        TenureArrow(.waiting, .taking, "the node wants the shard") {
            _ = $0.nextStep(isWanted: true, now: 1)
        },
        TenureArrow(.waiting, .serving, "the process starts and has the shard", [.began(term: 8)]) {
            $0.began(term: 8)
        },
        TenureArrow(.waiting, .waiting, "a call comes and is refused") { $0.failed(.fenced, now: 1) },
        TenureArrow(.taking, .serving, "the database gives the shard", [.began(term: 8)]) {
            $0.began(term: 8)
        },
        TenureArrow(.taking, .taking, "another node has the shard") { $0.failed(.fenced, now: 1) },
        TenureArrow(.taking, .taking, "the database does not answer") { $0.failed(.unreachable, now: 1) },
        TenureArrow(.taking, .releasing, "the node does not want the shard any more") {
            _ = $0.nextStep(isWanted: false, now: 1)
        },
    ]

    private static let serving = [
        TenureArrow(.serving, .serving, "a group fails and nothing of it was kept") {
            $0.failed(.full, now: 1)
        },
        TenureArrow(
            .serving, .releasing, "the node does not want the shard any more", [.lost(isPlanned: true)]
        ) { _ = $0.nextStep(isWanted: false, now: 1) },
        TenureArrow(.releasing, .waiting, "the shard is given up") { $0.released() },
        TenureArrow(.serving, .taking, "another node has taken the shard", [.lost(isPlanned: false)]) {
            $0.failed(.fenced, now: 1)
        },
        TenureArrow(.serving, .doubt, "nobody knows whether a group was kept") {
            $0.failed(.stalled, now: 1)
        },
        TenureArrow(.serving, .doubt, "the database has gone back") { $0.failed(.wentBack, now: 1) },
    ]

    private static let doubt = [
        TenureArrow(.doubt, .serving, "the database gives a new term", [.began(term: 8)]) {
            $0.began(term: 8)
        },
        TenureArrow(.alone, .doubt, "nobody knows whether a group was kept") { $0.failed(.stalled, now: 1) },
        TenureArrow(.doubt, .alone, "the store answers and has no terms", [.began(term: nil)]) {
            $0.began(term: nil)
        },
        TenureArrow(.doubt, .doubt, "the database does not answer") { $0.failed(.unreachable, now: 1) },
        TenureArrow(.doubt, .taking, "another node has taken the shard", [.lost(isPlanned: false)]) {
            $0.failed(.fenced, now: 1)
        },
    ]

    /// Any other state ends in the same way.
    private static let ends = [TenureStage.alone, .waiting, .serving].map { from in
        TenureArrow(from, .stopped, "the process ends") { $0.stop() }
    }
}
