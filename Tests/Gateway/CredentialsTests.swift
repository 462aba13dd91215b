import Foundation
import HTTPTypes
import RTMAppConfiguration
import RTMCredentials
import RTMModel
import Testing

@testable import RTMGatewayServer

@Suite("Who calls, and what they may do")
struct CredentialsTests {
    private static func basic(_ text: String) -> String { "Basic " + Data(text.utf8).base64EncodedString() }

    @Test(
        "W-1: a key comes as a bearer, as a header of its own, or as the password of Basic; a token as the vendor's, and a JWT as a bearer, too",
        arguments: [
            (HTTPField.Name.authorization, "Bearer k", Credentials.key("k")),
            (.authorization, "bearer k", .key("k")), (.apiKey, "k", .key("k")),
            (.authorization, "Bearer   k", .key("k")), (.authorization, "agora  token=t", .token("t")),
            (.authorization, basic("anybody:k"), .key("k")), (.authorization, basic(":k"), .key("k")),
            (.authorization, "agora token=t", .token("t")), (.agoraToken, "t", .token("t")),
            (.authorization, "Bearer a.b.c", .token("a.b.c")),
            (.authorization, "agora token=a.b.c", .token("a.b.c")), (.apiKey, "a.b.c", .key("a.b.c")),
        ])
    func forms(name: HTTPField.Name, value: String, expected: Credentials) throws {
        #expect(try Credentials([name: value]) == expected)
    }

    @Test(
        "what is no credential is none",
        arguments: [
            "", "k", "Bearer", "Basic !", "Basic /w==", "Digest k", "agora", "agora tok=t", "token=t",
            "Bearertoken k",
        ])
    func none(value: String) {
        #expect(throws: APIError.self) { try Credentials([.authorization: value]) }
    }

    @Test("two ways to say who calls are refused, also when they agree: a proxy might believe the other one")
    func two() {
        let pairs: [HTTPFields] = [
            [.authorization: "Bearer a", .apiKey: "a"], [.authorization: "Bearer a", .agoraToken: "t"],
            [.apiKey: "a", .agoraToken: "t"],
        ]
        var twice = HTTPFields()
        twice.append(HTTPField(name: .authorization, value: "Bearer a"))
        twice.append(HTTPField(name: .authorization, value: "Bearer b"))
        for headers in pairs + [twice] {
            do {
                _ = try Credentials(headers)
                Issue.record("accepted: \(headers)")
            } catch {
                #expect(error.status == .unauthorized && error.body.name == "ambiguousCredentials")
            }
        }
    }

    private func client(_ scopes: Set<APIScope>, channels: String? = nil) -> APIClient {
        APIClient(APIKeyRecord(id: "k", hash: "", app: "dev", scopes: scopes, channels: channels), app: "dev")
    }

    @Test("a scope lets do its own things, and admin everything", arguments: APIScope.allCases)
    func scopes(scope: APIScope) throws {
        for other in APIScope.allCases {
            let refusal = status { () throws(APIError) in try client([scope]).require(other) }
            #expect(refusal == (scope == other || scope == .admin ? nil : .forbidden))
        }
    }

    @Test("a key for some channels reaches those whose names begin so, and neither users nor inboxes")
    func prefix() {
        let bound = client([.admin], channels: "chat-")
        let free = client([.admin])
        for (type, name, isReached) in [
            (ChannelType.message, "chat-1", true), (.stream, "chat-", true), (.message, "chat", false),
            (.message, "Chat-1", false), (.user, "chat-1", false),
            (.none, "chat-1", false),
        ] {
            let channel = ChannelKey(appID: "dev", type: type, name: name)
            #expect(
                status { () throws(APIError) in try bound.check(channel) } == (isReached ? nil : .forbidden))
            #expect(status { () throws(APIError) in try free.check(channel) } == nil)
        }
    }

    @Test("L-2, L-4: a name that is none is refused, whatever asks for it")
    func names() {
        for (type, name) in [
            (ChannelType.message, ""), (.message, "a.b"), (.message, "_a"), (.stream, "a/b"), (.user, "ü"),
            (.none, "a\0"), (.message, String(repeating: "a", count: 65)),
        ] {
            let channel = ChannelKey(appID: "dev", type: type, name: name)
            #expect(
                status { () throws(APIError) in try client([.read]).check(channel) } == .badRequest, "\(name)"
            )
        }
    }

    @Test("W-1: a token acts as its user, and a key as whom it names")
    func acting() throws {
        let alice = APIClient(
            UserRights(userID: "alice", grant: nil, policies: ForeignPolicies()), app: "dev")
        #expect(try alice.actingUser(nil) == "alice" && alice.actingUser("alice") == "alice")
        #expect(status { () throws(APIError) in _ = try alice.actingUser("bob") } == .forbidden)
        #expect(status { () throws(APIError) in try alice.require(.moderate) } == .forbidden)
        #expect(try client([.publish]).actingUser("bob") == "bob")
    }

    private func status(_ body: () throws(APIError) -> Void) -> HTTPResponse.Status? {
        do throws(APIError) {
            try body()
            return nil
        } catch {
            return error.status
        }
    }
}
