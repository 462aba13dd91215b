import Foundation
import RTMCredentials
import RTMServiceKit
import Testing

@testable import RTMGatewayServer

@Suite("API keys: what is one, what is stored of it, and what lets it in")
struct APIKeyTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func record(_ key: APIKey, scopes: Set<APIScope> = [.read], expires: Date? = nil) -> APIKeyRecord
    {
        APIKeyRecord(id: key.id, hash: key.hash, app: "dev", scopes: scopes, expires: expires)
    }

    @Test("a key is its text, and no two are alike")
    func text() throws {
        let key = APIKey.random()
        #expect(APIKey(key.text) == key)
        #expect(key.text.hasPrefix("rtmk_") && key.text.count == 57)
        #expect(Set((0..<100).map { _ in APIKey.random().text }).count == 100)
    }

    @Test(
        "what isn't a key is none",
        arguments: [
            "", "rtmk", "rtmk__", "rtmk_AAAAAAAA_short", "sk_AAAAAAAA_" + String(repeating: "a", count: 43),
            "rtmk_AAAAAAAA_" + String(repeating: "a", count: 44),
            "rtmk_AAAAAAAA_" + String(repeating: "a", count: 42) + "_",
            "rtmk_AAAAAAAA_"
                + String(repeating: "a", count: 43) + "_",
        ])
    func noKey(text: String) { #expect(APIKey(text) == nil) }

    @Test("the hash depends on the secret and on the id, and does not show the secret")
    func hash() throws {
        let secret = String(repeating: "a", count: 43)
        let key = try #require(APIKey("rtmk_AAAAAAAA_\(secret)"))
        #expect(key.hash.count == 64 && key.hash == APIKey("rtmk_AAAAAAAA_\(secret)")?.hash)
        #expect(key.hash != APIKey("rtmk_AAAAAAAB_\(secret)")?.hash)
        #expect(key.hash != APIKey("rtmk_AAAAAAAA_\(secret.dropLast())b")?.hash)
        #expect(!key.hash.contains("aaaaaaaa"))
    }

    @Test("a record is what the configuration says of it")
    func record() throws {
        var record = APIKeyRecord(
            id: "abc", hash: String(repeating: "0a", count: 32), app: "*", scopes: [.publish, .read],
            channels: "chat-")
        record.expires = APIKeyEntry.date("2027-01-31")
        #expect(APIKeyRecord(record.record) == record)
        #expect(record.record["scopes"] == .string("publish+read"))
        #expect(record.record["expires"] == .string("2027-01-31"))
        #expect(record.expires?.timeIntervalSince1970 == 1_801_353_600)
    }

    @Test(
        "a record with a wrong field is none",
        arguments: [
            ("hash", ConfigurationValue.secret(Secret("abc"))),
            ("hash", .secret(Secret(String(repeating: "g", count: 64)))),
            ("scopes", .string("read+write")), ("scopes", .string("")), ("expires", .string("2027-02-30")),
            ("expires", .string("31.1.2027")), ("expires", .string("2027-01-31 or so")),
        ])
    func wrong(field: String, value: ConfigurationValue) {
        var fields = record(.random()).record
        #expect(APIKeyRecord(fields) != nil)
        fields[field] = value
        #expect(APIKeyRecord(fields) == nil)
    }

    @Test("the ring admits a key with the right secret, and remembers when")
    func admits() throws {
        let key = APIKey.random()
        let ring = KeyRing([record(key)])
        #expect(ring.uses.map(\.use?.last) == [nil])
        #expect(ring.admit(key, now: now)?.id == key.id)
        #expect(ring.uses.map(\.use?.last) == [now])
        #expect(ring.admit(key, now: now + 1) != nil)
        #expect(ring.use(of: key.id)?.last == now + 1 && ring.use(of: key.id)?.before == now)
    }

    @Test(
        "another secret, an unknown id, and a hash in the place of the secret are refused, also after the right one",
        arguments: [false, true])
    func refuses(isKnown: Bool) throws {
        let key = APIKey.random()
        let ring = KeyRing([record(key)])
        if isKnown { #expect(ring.admit(key, now: now) != nil) }
        let uses = ring.uses.map(\.use?.last)
        #expect(ring.admit(.random(), now: now) == nil)
        let guess = try #require(APIKey("rtmk_\(key.id)_\(String(repeating: "a", count: 43))"))
        #expect(ring.admit(guess, now: now) == nil)
        let hashed = try #require(APIKey("rtmk_\(key.id)_\(key.hash.prefix(43))"))
        #expect(ring.admit(hashed, now: now + 1) == nil)
        #expect(ring.uses.map(\.use?.last) == uses)
    }

    @Test("a key is refused from its day of expiry on")
    func expiry() {
        let key = APIKey.random()
        let ring = KeyRing([record(key, expires: now)])
        #expect(ring.admit(key, now: now - 1) != nil)
        #expect(ring.admit(key, now: now) == nil)
    }

    @Test("a key that the configuration has no more is refused, and one that it has again begins anew")
    func revocation() {
        let (key, other) = (APIKey.random(), APIKey.random())
        let ring = KeyRing([record(key), record(other)])
        #expect(ring.admit(key, now: now) != nil)
        ring.take([record(other)])
        #expect(ring.admit(key, now: now) == nil && ring.admit(other, now: now) != nil)
        ring.take([record(key)])
        #expect(ring.uses.map(\.use?.last) == [nil])
        #expect(ring.admit(key, now: now) != nil)
        ring.take([APIKeyRecord(id: key.id, hash: other.hash, app: "dev", scopes: [.read])])
        #expect(ring.admit(key, now: now) == nil)
    }

    @Test("a key whose scopes have changed has the new ones with its next request")
    func scopes() {
        let key = APIKey.random()
        let ring = KeyRing([record(key)])
        #expect(ring.admit(key, now: now)?.scopes == [.read])
        ring.take([record(key, scopes: [.moderate])])
        #expect(ring.admit(key, now: now)?.scopes == [.moderate])
    }
}
