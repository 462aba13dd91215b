import HTTPTypes
import NIOCore
import RTMAppConfiguration
import RTMCredentials
import RTMModel
import RTMServiceKit
import Testing

@testable import RTMGatewayServer

@Suite("R-11: how often a key and an app may call")
struct RequestRateTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func client(_ id: String, app: String = "dev") -> APIClient {
        APIClient(APIKeyRecord(id: id, hash: "", app: app, scopes: [.publish]), app: app)
    }

    private func rates(key: Int, user: Int = 0, app: Int) -> RequestRates {
        RequestRates(.init(key: key, user: user, app: app))
    }

    private func refusal(_ rates: RequestRates, _ client: APIClient, _ count: Int = 1, at now: NIODeadline)
        -> RTMError?
    {
        do throws(RTMError) {
            try rates.spend(count, by: client, now: now)
            return nil
        } catch {
            return error
        }
    }

    @Test("what a key and its app have left is what they may spend at once")
    func left() {
        let rates = rates(key: 10, app: 100)
        #expect(rates.left(to: client("a"), now: start).key?.left == 20)
        _ = refusal(rates, client("a"), 3, at: start)
        _ = refusal(rates, client("b"), 5, at: start)
        let left = rates.left(to: client("a"), now: start)
        #expect(left.key?.left == 17 && left.app?.left == 192 && left.key?.rate.perSecond == 10)
        #expect(rates.left(to: client("a"), now: start + .milliseconds(200)).key?.left == 19)
        _ = refusal(rates, client("b"), 100, at: start)
        #expect(rates.left(to: client("b"), now: start).key?.left == -85)
        #expect(self.rates(key: 0, app: 0).left(to: client("a"), now: start).key == nil)
    }

    @Test("W-82: an answer says what is left of the tighter rate, and in how many seconds all is there again")
    func answers() {
        let rates = rates(key: 10, app: 100)
        func headers(by rates: RequestRates, _ id: String, after time: TimeAmount = .zero) -> [String?] {
            let headers = rates.headers(of: client(id), now: start + time)
            return [headers[.rateLimit], headers[.rateRemaining], headers[.rateReset]]
        }
        #expect(headers(by: rates, "a") == ["20", "20", "0"])
        _ = refusal(rates, client("a"), 1, at: start)
        #expect(headers(by: rates, "a") == ["20", "19", "1"])
        _ = refusal(rates, client("a"), 30, at: start)
        #expect(headers(by: rates, "a") == ["20", "0", "4"])
        _ = refusal(rates, client("b"), 169, at: start)
        #expect(headers(by: rates, "c") == ["200", "0", "2"])
        #expect(headers(by: rates, "c", after: .seconds(2)) == ["20", "20", "0"])
        _ = refusal(rates, client("d"), 60, at: start + .seconds(9))
        #expect(headers(by: rates, "d", after: .seconds(9)) == ["20", "0", "6"], "what is owed counts")
        #expect(headers(by: self.rates(key: 0, app: 0), "a") == [nil, nil, nil])
    }

    @Test("a key has twice its rate at once, and then its rate; the refusal says which limit and when")
    func key() throws {
        let rates = rates(key: 10, app: 0)
        for _ in 0..<20 { #expect(refusal(rates, client("a"), at: start) == nil) }
        let refused = try #require(refusal(rates, client("a"), at: start))
        #expect(refused.code == .operationRateExceedLimitation)
        #expect(refused.limit == .init(name: "gateway.rates.key", value: 10))
        let wait = try #require(refused.retryAfter)
        #expect(wait > .milliseconds(99) && wait <= .milliseconds(101))
        #expect(refusal(rates, client("b"), at: start) == nil)
        #expect(refusal(rates, client("a"), at: start + .milliseconds(99)) != nil)
        #expect(refusal(rates, client("a"), at: start + .milliseconds(101)) == nil)
    }

    @Test("the user of a token has a rate of its own, which the refusal names")
    func user() throws {
        let rates = rates(key: 500, user: 2, app: 0)
        let rights = UserRights(userID: "alice", grant: nil, policies: ForeignPolicies())
        let alice = APIClient(rights, app: "dev")
        for _ in 0..<4 { #expect(refusal(rates, alice, at: start) == nil) }
        #expect(refusal(rates, alice, at: start)?.limit == .init(name: "gateway.rates.user", value: 2))
        #expect(refusal(rates, client("a"), at: start) == nil)
    }

    @Test("all keys of an app share its rate, and a refusal by it costs the key nothing")
    func app() throws {
        let rates = rates(key: 10, app: 5)
        for id in 0..<10 { #expect(refusal(rates, client("\(id)"), at: start) == nil) }
        #expect(refusal(rates, client("x"), at: start)?.limit?.name == "gateway.rates.app")
        #expect(refusal(rates, client("x", app: "other"), at: start) == nil)
        let later = start + .seconds(2)
        for _ in 0..<10 { #expect(refusal(rates, client("x"), at: later) == nil) }
    }

    @Test("many messages of one request are let in together, and are owed afterwards")
    func many() throws {
        let rates = rates(key: 10, app: 0)
        #expect(refusal(rates, client("a"), 100, at: start) == nil)
        #expect(refusal(rates, client("a"), at: start + .seconds(8)) != nil)
        #expect(refusal(rates, client("a"), at: start + .milliseconds(8_200)) == nil)
    }

    @Test("new rates hold at once, and 0 is no limit")
    func changed() {
        let rates = rates(key: 1, app: 1)
        for _ in 0..<2 { #expect(refusal(rates, client("a"), at: start) == nil) }
        #expect(refusal(rates, client("a"), at: start) != nil)
        rates.take(.init(key: 0, user: 0, app: 0))
        for _ in 0..<1_000 { #expect(refusal(rates, client("a"), at: start) == nil) }
    }

    @Test("the bytes of bodies and pages count, one for each whole 8 KiB, and what isn't there is owed")
    func bytes() throws {
        let rates = rates(key: 10, app: 0)
        rates.charge(bytes: 8_191, to: client("a"), now: start)
        #expect(rates.left(to: client("a"), now: start).key?.left == 20)
        rates.charge(bytes: 4 << 20, to: client("a"), now: start)
        let refused = try #require(refusal(rates, client("a"), at: start))
        #expect(try #require(refused.retryAfter) > .seconds(49))
        #expect(refusal(rates, client("b"), at: start) == nil)
    }
}
