import Testing

@testable import RTMStorageServer

@Suite("What an acknowledgement means over PostgreSQL") struct CommitDurabilityTests {
    private func durability(_ commit: String, _ names: String = "", fsync: String = "on") -> CommitDurability
    {
        CommitDurability(synchronousCommit: commit, standbyNames: names, fsync: fsync)
    }

    @Test(
        "a commit waits for as many standbys as the setting says",
        arguments: [
            ("", 0), ("  ", 0), ("standby", 1), ("*", 1), ("a, b", 1), ("FIRST 2 (a, b, c)", 2),
            ("first 1(a,b)", 1), ("ANY 3 (*)", 3), ("2 (a, b)", 2), ("3(a,b,c)", 3), ("first", 1),
            ("ANY", 1), ("\"2 (a\"", 1),
        ])
    func count(_ names: String, _ standbys: Int) {
        #expect(durability("on", names).standbys == standbys)
    }

    @Test(
        "where synchronous_commit doesn't wait for standbys, there may be any", arguments: ["local", "off"])
    func none(_ commit: String) {
        #expect(durability(commit, "FIRST 2 (a, b)").standbys == 0)
    }

    @Test("the sentence says who has a write, and what is set")
    func sentence() {
        let sentences = [
            durability("on"), durability("off", "a"), durability("on", "a"),
            durability("remote_write", "2 (*)"),
            durability("remote_apply", "a"), durability("on", "a", fsync: "off"),
        ].map(\.sentence)
        let begin = "a write is acknowledged when the server has it"
        func end(_ commit: String, _ before: String = "") -> String {
            "(\(before)synchronous_commit=\(commit))"
        }
        #expect(
            sentences == [
                "\(begin) on disk, and no standby is waited for \(end("on"))",
                "\(begin) in memory, and no standby is waited for \(end("off"))",
                "\(begin) on disk and 1 synchronous standby has it on disk \(end("on"))",
                "\(begin) on disk and 2 synchronous standbys have received it \(end("remote_write"))",
                "\(begin) on disk and 1 synchronous standby has applied it \(end("remote_apply"))",
                "\(begin) in memory and 1 synchronous standby has it on disk \(end("on", "fsync=off, "))",
            ])
    }
}
