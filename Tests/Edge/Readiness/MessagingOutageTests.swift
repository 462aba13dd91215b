import Testing

@testable import RTMEdgeServer

@Suite("Clients come back after an outage of messaging")
struct MessagingOutageTests {
    @Test("late by half the outage at most, and seldom once it is long")
    func pauses() {
        for outage in [Duration.milliseconds(3), .milliseconds(150), .milliseconds(1_100), .seconds(60)] {
            var (time, attempts) = (Duration.zero, 0)
            while time < outage {
                time += MessagingOutage.pause(after: time)
                attempts += 1
            }
            #expect(time - outage <= max(outage / 2, MessagingOutage.shortestPause))
            #expect(attempts <= 12 + Int(outage / MessagingOutage.longestPause))
        }
    }
}
