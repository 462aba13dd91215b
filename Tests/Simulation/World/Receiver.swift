import Foundation
import NIOCore
import RTMWebhookCall

@testable import RTMGatewayServer
@testable import RTMTestKit

/// The receiver of one webhook, in moods that the seed chooses. It notes what it takes, as a backend would
/// that reads nothing but the bodies.
final class Receiver {
    enum Mood: CaseIterable {
        case well, slow
        /// No connection.
        case away
        /// 429 or 503 with the time to come back.
        case overloaded
        /// 500.
        case failing
        /// Takes a request, and its connection ends before the answer.
        case dying
        /// Answers when nobody waits any more; takes the request before or after that.
        case late
        /// Takes a request, answers, and then answers the same request with 500.
        case answeringTwice
        /// 410.
        case gone
    }

    /// In a message that the receiver never takes.
    static let poison = "poison"

    let record: WebhookRecord
    private let world: VirtualWorld
    private let random: RandomStream
    private let journal: HistoryLog
    private let moods: [Mood]
    private var mood = Mood.well
    private var isHealed = false

    init(_ record: WebhookRecord, in world: VirtualWorld, journal: HistoryLog) {
        (self.record, self.world, self.journal) = (record, world, journal)
        let random = world.random("receiver \(record.name)")
        self.random = random
        moods =
            [.well] + Mood.allCases.filter { $0 != .gone && random.chance(1, in: 2) }
            + (random.chance(1, in: 6) ? [.gone] : [])
        change()
    }

    /// From now on it takes everything that isn't poison.
    func heal() {
        isHealed = true
        mood = .well
    }

    private func change() {
        guard !isHealed else { return }
        mood = random.pick(moods) ?? .well
        journal.record(.fault("receiver \(record.name) is \(mood)"))
        let longest = random.pick([2_000, 20_000, 60_000]) ?? 0
        world.after(random.milliseconds(500...(mood == .gone ? 2_000 : longest))) { self.change() }
    }

    /// - Parameter answer: called once, twice or never.
    func post(_ body: String, _ answer: @escaping (WebhookAnswer) -> Void) {
        world.after(random.milliseconds(1...anyOf(5, 300))) { self.arrived(body, answer) }
    }

    private func anyOf(_ numbers: Int...) -> Int { random.pick(numbers) ?? 1 }

    private func arrived(_ body: String, _ answer: @escaping (WebhookAnswer) -> Void) {
        let reply = { (outcome: WebhookAnswer.Outcome, after: ClosedRange<Int>) in
            self.world.after(self.random.milliseconds(after)) { answer(WebhookAnswer(outcome: outcome)) }
        }
        guard let request = try? JSONDecoder().decode(Body.self, from: Data(body.utf8)) else {
            return journal.record(.backend(.unreadable(record.name, body)))
        }
        guard mood != .away else {
            return refuse(request, "no connection") { reply(.noConnection("refused"), 1...1_000) }
        }
        guard !request.events.contains(where: { $0.text?.contains(Self.poison) ?? false }) else {
            return refuse(request, "500, poison") { reply(.status(500), 1...100) }
        }
        switch mood {
        case .well, .away:
            take(request)
            reply(.status(200), 1...20)
        case .slow:
            take(request)
            reply(.status(202), 1...8_000)
        case .overloaded:
            refuse(request, "come back later") {
                var overloaded = WebhookAnswer(outcome: .status(self.anyOf(429, 503)))
                if self.random.chance(2, in: 3) {
                    overloaded.retryAfter = .seconds(Int64(self.random.number(in: 0...40)))
                }
                self.world.after(self.random.milliseconds(1...50)) { [overloaded] in answer(overloaded) }
            }
        case .failing: refuse(request, "500") { reply(.status(500), 1...50) }
        case .dying:
            if random.chance(3, in: 4) { take(request) }
            refuse(request, "dead") { reply(.noAnswer("closed"), 1...500) }
        case .late:
            world.after(random.milliseconds(1...20_000)) { self.take(request) }
            refuse(request, "late") { reply(.status(200), 10_000...30_000) }
        case .answeringTwice:
            take(request)
            reply(.status(200), 1...20)
            reply(.status(500), 1...40)
        case .gone: refuse(request, "gone") { reply(.status(410), 1...50) }
        }
    }

    private func take(_ request: Body) { journal.record(.backend(.received(record.name, request.events))) }

    /// Whoever sent it learns nothing, or nothing good.
    private func refuse(_ request: Body, _ why: String, _ answer: () -> Void) {
        journal.record(.backend(.refused(record.name, request.events, why)))
        answer()
    }

    private struct Body: Decodable {
        let app: String
        let webhook: String
        let events: [EventLine]
    }
}

/// An event as a backend reads it.
struct EventLine: Decodable, Hashable, CustomStringConvertible {
    let id: String
    let type: String
    let key: String
    let number: UInt64
    /// In milliseconds (UTC).
    let time: UInt64
    let data: Content?

    struct Content: Decodable, Hashable { let message: String? }

    /// Of a message.
    var text: String? { type == "message.published" ? data?.message : nil }
    /// The place of the event among all of its app.
    var offset: UInt64 { id.split(separator: "-").last.flatMap { UInt64($0) } ?? 0 }

    var description: String { "\(offset):\(key)#\(number)" }
}
