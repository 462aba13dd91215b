import RTMLedger
import Testing

@testable import rtm

@Suite("rtm doctor migrate")
struct DoctorMigrateTests {
    private func report(_ text: String...) throws -> MigrationReport {
        let files = text.enumerated().map { AppSources.File(path: "\($0.offset).swift", text: $0.element) }
        return MigrationReport(AppSources(swift: files), try Ledger.house())
    }

    private func names(_ uses: [(found: LedgerIndex.Found, places: [MigrationReport.Place])]) -> [String] {
        uses.map { "\($0.found.type).\($0.found.member.declaration.prefix { $0 != "(" && $0 != ":" })" }
    }

    @Test("comments and texts are no code, and what is interpolated is")
    func words() {
        let source = ##"""
            a // b "c
            /* d /* e */ f */ g
            "h \(i("j")) k" + """
                l \(m)
                """ + #"n \(o) \#(p)"# + "q\"r" + "
            s
            """##
        #expect(SwiftWords(source).uses.map(\.name) == ["a", "g", "i", "m", "p", "s"])
        #expect(SwiftWords(source).uses.map(\.line) == [1, 2, 3, 4, 5, 6])
    }

    @Test("labels of calls and declarations")
    func labels() {
        let uses = SwiftWords("kit.publish(channelName: f(x, y: 1), message: [a: b], option: nil) { r in }")
            .uses
        #expect(
            uses.first { $0.name == "publish" }?.labels == ["channelName", "message", "option", "completion"])
        #expect(uses.first { $0.name == "f" }?.labels == ["_", "y"])
        let declared = SwiftWords("func rtmKit(_ kit: K, didReceiveMessageEvent event: E) {}").uses
        #expect(declared.first { $0.name == "rtmKit" }?.labels?.prefix(2) == ["_", "didReceiveMessageEvent"])
        #expect(SwiftWords("f()").uses[0].labels == [])
    }

    @Test("what differs, has no effect and isn't here is found with its places")
    func findings() throws {
        let report = try report(
            """
            import AgoraRtmKit
            let config = AgoraRtmClientConfig(appId: "a", userId: "b")
            config.ispPolicyEnabled = true
            config.privateConfig = AgoraRtmPrivateConfig()
            let options = AgoraRtmJoinTopicOption()
            options.syncWithMedia = true
            let kit = try AgoraRtmClientKit(config, delegate: self)
            kit.setParameters("{}")
            kit.login(token) { response, error in }
            let (_, error) = await kit.subscribe(channelName: "lobby", option: nil)
            // kit.renewToken("x")
            let cloud: AgoraRtmCloudThing? = nil
            """, "struct Unrelated { var ispPolicyEnabled = true }")
        #expect(report.files == 2)
        #expect(report.filesWithSDK == 1)
        let idle = names(report.uses(.idle))
        #expect(idle.contains("AgoraRtmClientConfig.var ispPolicyEnabled"))
        #expect(idle.contains("AgoraRtmJoinTopicOption.var syncWithMedia"))
        #expect(idle.contains("AgoraRtmClientKit.func setParameters"))
        #expect(names(report.uses).contains("AgoraRtmClientKit.func login"))
        #expect(names(report.uses).contains("AgoraRtmClientKit.func subscribe"))
        #expect(!names(report.uses).contains("AgoraRtmClientKit.func renewToken"))
        #expect(report.unknown.map(\.name) == ["AgoraRtmCloudThing"])
        #expect(report.unknown[0].places == [.init(path: "0.swift", line: 12)])
        let text = report.text(showsAll: false)
        #expect(text.contains("To do\n  - Set privateConfig.serviceType"))
        #expect(text.contains("0.swift:3"))
        #expect(report.json.description.contains(#""how":"no effect""#))
    }

    @Test("delegates are found by their labels, and forms of earlier versions are named")
    func delegates() throws {
        let report = try report(
            """
            final class L: NSObject, AgoraRtmClientDelegate {
                func rtmKit(_ k: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
                    print(event.publisher)
                }
                func rtmKit(
                    _ k: AgoraRtmClientKit, channel: String,
                    connectionChangedToState state: AgoraRtmClientConnectionState,
                    reason: AgoraRtmClientConnectionChangeReason
                ) {}
            }
            """)
        #expect(names(report.uses).contains("AgoraRtmClientDelegate.func rtmKit"))
        #expect(names(report.uses(.earlier)).contains("AgoraRtmClientDelegate.func rtmKit"))
        #expect(names(report.uses).contains("AgoraRtmMessageEvent.var publisher"))
        #expect(report.unknown.isEmpty)
    }

    @Test("an app that uses nothing of it is told so, and a folder without sources is refused")
    func nothing() throws {
        #expect(try report("let a = 1").text(showsAll: false) == "1 Swift file, and none uses AgoraRtmKit.")
        #expect(throws: (any Error).self) { try AppSources(at: "/nowhere") }
    }

    @Test("one file uses the SDK, and one member works unchanged")
    func singular() throws {
        let text = try report("let kit: AgoraRtmClientKit? = nil; kit?.logout()", "let a = 1")
            .text(showsAll: true)
        #expect(text.hasPrefix("1 of 2 Swift files uses AgoraRtmKit: 1 type and 1 member."))
        #expect(text.contains("1 member works unchanged."))
    }

    @Test("every type and every member of the ledger has a name that sources are searched for")
    func complete() throws {
        let ledger = try Ledger.house()
        let index = LedgerIndex(ledger)
        #expect(ledger.entries.count > 70)
        #expect(index.types.count > 70)
        for entry in ledger.entries where entry.kind != "module" {
            for member in entry.members {
                let found = index.knows(member, of: entry.name)
                #expect(found, "\(entry.name) \(member.declaration)")
            }
        }
    }
}
