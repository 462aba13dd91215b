import RTMAccessToken
import RTMClient
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import rtm

@Suite("What rtm doctor says of a connection") struct DoctorFindingTests {
    private func reply(at milliseconds: UInt64) -> PingReply {
        PingReply(
            roundTrip: .milliseconds(40), server: "heliograph/9", protocolVersion: 3,
            serverTimeMilliseconds: milliseconds)
    }

    private func verdicts(
        _ address: String, _ outcome: ProbeOutcome, isEncrypted: Bool = true
    ) throws -> [DoctorFinding.Verdict] {
        try DoctorFinding.server(ServerAddress(address), isEncrypted: isEncrypted, outcome).map(\.verdict)
    }

    @Test("a server that answers is fine; in the clear that is worth a note unless it is on this machine")
    func server() throws {
        let answer = ProbeOutcome.answered(reply(at: 0))
        #expect(try verdicts("rtm.example.com", answer) == [.ok, .ok])
        #expect(try verdicts("rtm.example.com", answer, isEncrypted: false) == [.ok, .note])
        #expect(try verdicts("localhost", answer, isEncrypted: false) == [.ok, .ok])
    }

    @Test("where somebody answers, and TLS is what is wrong, the address is not to blame")
    func blame() throws {
        func outcome(_ failure: ConnectionFailure?) -> ProbeOutcome {
            .failed(RTMError(.notConnected, "why"), failure)
        }
        for failure in [ConnectionFailure.certificateUntrusted, .certificateOfOtherHost, .serverWithoutTLS] {
            #expect(try verdicts("a", outcome(failure)) == [.ok, .wrong])
        }
        #expect(try verdicts("a", outcome(.refused)) == [.wrong, .unchecked])
        #expect(try verdicts("a", outcome(nil)) == [.wrong, .unchecked])
        let advice = try DoctorFinding.server(ServerAddress("a"), isEncrypted: true, outcome(.refused))
        #expect(advice.first?.text.hasPrefix("a:7710: why; is a server running there?") == true)
        let named = ProbeOutcome.failed(RTMError(.notConnected, "a:7710 is away"), nil)
        let once = try DoctorFinding.server(ServerAddress("a"), isEncrypted: true, named)
        #expect(once.first?.text == "a:7710 is away")
    }

    @Test("clocks may differ by ten seconds; half of the way counts as the server's time")
    func clock() {
        func finding(_ server: UInt64, _ here: UInt64) -> DoctorFinding {
            .clock(ServerClock(reply(at: server), nowMilliseconds: here))
        }
        #expect(finding(100_000, 100_020).text == "this machine and the server differ by 0 ms")
        #expect(finding(100_000, 110_020).verdict == .ok)
        let ahead = finding(100_000, 111_021)
        #expect(ahead.verdict == .wrong && ahead.text.contains("11 s ahead of the server's"))
        #expect(finding(500_000, 100_000).text.contains("6 min behind the server's"))
        #expect(finding(.max, 100_000).verdict == .wrong)
        #expect(DoctorFinding.clock(nil).verdict == .unchecked)
        #expect(ServerClock(reply(at: 500), nowMilliseconds: 1_520).time(of: 2_000) == 1_000)
    }

    @Test("a token is for this app and this user, and valid by the server's clock")
    func token() throws {
        let text = try SampleApp.token(for: "anna", endsAt: 2_000)
        func finding(user: String = "anna", app: String = SampleApp.id, now: UInt64) throws -> DoctorFinding {
            let settings = try ConnectionSettings(
                ConnectionValues(appID: app, userID: user, token: text), environment: [:], guest: "guest")
            return .token(text, settings, nowMilliseconds: now)
        }
        let good = try finding(now: 1_940_000)
        #expect(good.verdict == .ok && good.text.contains("user anna") && good.text.contains("60 s"))
        #expect(try finding(now: 2_000_000).verdict == .wrong)
        #expect(try finding(user: "ben", now: 1_940_000).text.contains("the token is for user"))
        #expect(try finding(app: "other", now: 1_940_000).text.contains("another app id"))
    }
}
