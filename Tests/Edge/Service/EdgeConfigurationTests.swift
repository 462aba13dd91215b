import Foundation
import RTMAppConfiguration
import RTMConfigurationFile
import RTMModel
import RTMServiceKit
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import RTMAccessToken
@testable import RTMEdgeServer

@Suite("The apps of an edge")
struct EdgeConfigurationTests {
    @Test("an app with and one without a certificate")
    func good() throws {
        let text = "dev,\(SampleApp.id):\(SampleApp.certificate)"
        let configuration = try EdgeConfiguration(load(["--apps", text]))
        #expect(configuration.applications.map(\.id) == ["dev", SampleApp.id])
        let token = try SampleApp.token(for: "anna", endsAt: 1_700_000_000)
        let ends = try configuration.applications.map {
            try $0.tokens?.verify(token, userID: "anna", nowMilliseconds: 1_699_999_999_999)
                .expiresAtMilliseconds
        }
        #expect(ends == [nil, 1_700_000_000_000])
    }

    @Test(
        "A-7: a certificate that can be none is refused by its key and record, and not shown",
        arguments: ["tops3cret", "5CFd2fd1755d40ecb72977518be15d3", "5CFd2fd1755d40ecb72977518be15d3bb"])
    func badCertificate(_ certificate: String) {
        #expect(
            problems(["--apps", "dev,\(SampleApp.id):\(certificate)"]) == [
                "apps (--apps): the value has a certificate in record 2 that is not 32 hexadecimal digits. "
                    + "Set one as `openssl rand -hex 16` prints it"
            ])
    }

    @Test("A-7: an app with a certificate has an id that tokens can be made for")
    func badID() {
        #expect(
            problems(["--apps", "my-app:\(SampleApp.certificate)"]) == [
                "apps (--apps): the value has an id in record 1 that is not 32 hexadecimal digits, "
                    + "which it has to be where there is a certificate. Set such an id, or leave the "
                    + "certificate out"
            ])
    }

    @Test("an app that is there twice is refused, with both places")
    func twice() throws {
        #expect(
            problems(["--apps", "dev,other,dev"]) == [
                "apps (--apps): the value has the id \"dev\" in record 1 and again in record 3. "
                    + "Keep one of the two"
            ])
    }

    @Test("A-18: the file of an app's keys is read once; one that can't be used is refused by app and file")
    func keysOfJWTs() throws {
        let record =
            "apps: [{id: one, jwtKeys: KEYS, jwtIssuer: \"https://i\", jwtAudience: chat}, "
            + "{id: two, jwtKeys: KEYS}, {id: three}]"
        let configuration = try load(["--config", "f"], file: record)
        var reads: [String] = []
        let applications = try EdgeConfiguration(configuration) {
            reads.append($0)
            return SampleJWT.secretJWK
        }.applications
        #expect(reads == ["KEYS"])
        #expect(applications.map { $0.tokens?.jwts?.audience } == ["chat", "two", nil])
        #expect(applications.map { $0.tokens?.jwts?.issuer } == ["https://i", nil, nil])
        #expect(applications.map { $0.tokens != nil } == [true, true, false])
        let advice = "Set jwtKeys in record 1 to a JWKS document, or to a public key in PEM"
        for (content, reason) in [
            (SampleJWT.weakJWK, "used: the key \"weak\" is RSA with 1024 bits, and 2048 are needed at least"),
            (nil, "read: gone"),
        ] {
            let error = #expect(throws: ConfigurationError.self) {
                try EdgeConfiguration(configuration) { _ in
                    guard let content else { throw Gone() }
                    return content
                }
            }
            #expect(error?.description == "apps (f line 1): the file KEYS can't be \(reason). \(advice)")
        }
        let alone = #expect(throws: ConfigurationError.self) {
            try load(["--config", "f"], file: "apps: [{id: one, jwtAudience: chat}]")
        }
        #expect(alone?.description.contains("has no jwtKeys there") == true)
    }

    @Test(
        "A-21: an app names a file of its keys or a URL, and a URL that can be fetched",
        arguments: [
            ("jwtKeysURL: 'https://i/jwks.json', jwtIssuer: 'https://i'", nil),
            ("jwtKeysURL: 'http://10.1.0.7:8080/jwks.json'", nil),
            (
                "jwtKeysURL: 'https://i/jwks.json', jwtKeys: KEYS",
                "has both jwtKeys and jwtKeysURL in record 1"
            ),
            ("jwtKeysURL: '/etc/keys.json'", "has a jwtKeysURL in record 1 that is no URL"),
            ("jwtKeysURL: 'file:///etc/keys.json'", "has a jwtKeysURL in record 1 that is no URL"),
            ("jwtKeysURL: 'https://me:secret@i/'", "has a jwtKeysURL in record 1 that is no URL"),
        ] as [(String, String?)])
    func urlOfKeys(_ fields: String, _ problem: String?) throws {
        do {
            let configuration = try load(["--config", "f"], file: "apps: [{id: one, \(fields)}]")
            #expect(problem == nil)
            let application = try #require(try EdgeConfiguration(configuration).applications.first)
            #expect(application.tokens?.jwts?.audience == "one")
        } catch let error as ConfigurationError {
            #expect(problem.map(error.description.contains) == true, "\(error)")
        }
    }

    private struct Gone: Error, CustomStringConvertible { let description = "gone" }

    /// No two numbers are the same, so none can stand in another one's place.
    @Test(
        "L-24, L-42, R-1 to R-14: what an app's record says holds for it, for others what holds for every app"
    )
    func rates() throws {
        let everyApp = [
            "--subscriptions-max", "101", "--rates-publish", "102", "--rates-calls", "103",
            "--rates-subscribe", "104", "--rates-login", "105", "--rates-channel-metadata", "106",
            "--rates-user-metadata", "107", "--rates-acquire-lock", "108", "--rates-renewal", "109",
            "--rates-session-publish", "110", "--rates-app-publish", "111", "--sessions-per-app-max", "112",
            "--rates-session-publish-bytes", "100113", "--rates-app-publish-bytes", "100114",
        ]
        let apps =
            "one,two::201:202:203:204:205::206:207:208:209:210:211:212:200213:200214,"
            + "three::301::303::::306::0::310"
        let configuration = try EdgeConfiguration(load(["--apps", apps] + everyApp))
        #expect(
            configuration.applications.map(Self.numbers) == [
                [101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 100113, 100114],
                [201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 200213, 200214],
                [301, 102, 303, 104, 105, 306, 107, 0, 109, 310, 111, 112, 100113, 100114],
            ])
        // who comes back takes all his subscriptions up at once.
        #expect(configuration.applications.map(\.rates.restorable.subscribes) == [101, 201, 301])
    }

    private static func numbers(_ app: Application) -> [Int] {
        let rates = app.rates
        return [
            app.subscriptionsMax, rates.publish.perSecond, rates.calls.perSecond, rates.subscribesMax,
            rates.login.perSecond, rates.channelMetadata.perSecond, rates.userMetadata.perSecond,
            rates.acquireLock.perSecond, rates.renewal.perSecond, rates.sessionPublish.messages.perSecond,
            rates.appPublish.messages.perSecond, app.sessionsMax, rates.sessionPublish.bytes.perSecond,
            rates.appPublish.bytes.perSecond,
        ]
    }

    @Test("the drain of as many sessions as an edge admits fits into its shutdown, or it refuses to start")
    func drainFitsShutdown() {
        func problems(_ arguments: [String]) -> [String] {
            let definition = EdgeDefinition.service(hooks: nil, keys: nil)
            let schema = ConfigurationSchema(
                definition.keys + [CommonKeys.shutdownTimeout.declaration], section: "edge")
            let loader = ConfigurationLoader(schema: schema, rules: definition.rules) { _ in "" }
            do {
                _ = try loader.load(arguments: arguments, environment: [:])
                return []
            } catch {
                return error.problems.map(\.description)
            }
        }
        #expect(problems([]).isEmpty)
        #expect(problems(["--connections-max", "200000"]).isEmpty)
        #expect(
            problems(["--connections-max", "200001"]) == [
                "shutdown.timeout (default): the value 20s is too short for edge.connections.max, which is "
                    + "200001: an edge that ends sends 10000 sessions away per second. Set shutdown.timeout to "
                    + "at least 21s, or lower edge.connections.max"
            ])
    }

    @Test("a load balancer is named by its address or its network, and by nothing else")
    func balancers() {
        #expect(problems(["--proxy-protocol-trusted", "10.0.0.7,fd00::/8"]).isEmpty)
        #expect(
            problems(["--proxy-protocol-trusted", "10.0.0.7,balancer"]) == [
                "edge.proxyProtocol.trusted (--proxy-protocol-trusted): the value has \"balancer\", which is "
                    + "neither an address nor a network. Write an address such as 10.0.0.7, or a network such "
                    + "as 10.0.0.0/8"
            ])
    }

    @Test("the protocol's document says the rates of an edge whose operator changes nothing")
    func documentedRates() throws {
        let configuration = try EdgeConfiguration(load(["--apps", "one"]))
        let (app, limits) = (try #require(configuration.applications.first), configuration.limits)
        let rates = app.rates
        let file = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "protocol/limits.md")
        let written = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
            .compactMap { $0.firstMatch(of: #/^\| [^|]+ \| (\d+ a second|2 in five seconds)[^|]* \| (\d+)/#) }
            .map { "\($0.output.1), \($0.output.2)" }
        let perSecond = [
            rates.calls, rates.channelMetadata, rates.userMetadata, rates.userMetadataSubscribes,
            rates.acquireLock, rates.renewal, rates.login, limits.heartbeats, limits.refusals,
        ].map { "\($0.perSecond) a second, \($0.burst)" }
        #expect(
            written == [
                "\(rates.publish.perSecond) a second, \(rates.publish.burst)",
                "\(rates.topicPublish.perSecond) a second, \(rates.topicPublish.burst)",
            ]
                + [rates.sessionPublish.messages, rates.appPublish.messages].map {
                    "\($0.perSecond) a second, \($0.burst)"
                } + [
                    "\(rates.subscribesMax) in five seconds, \(rates.subscribesMax)"
                ] + perSecond)
    }

    @Test("one switch lifts all rates, those of a single app and of refusals too")
    func unlimited() throws {
        let configuration = try EdgeConfiguration(
            load(["--rates-unlimited", "--apps", "one::201:202", "--rates-login", "3"]))
        #expect(configuration.applications.map(\.rates) == [.unlimited])
        #expect(configuration.limits.refusals.isUnlimited && configuration.limits.heartbeats.isUnlimited)
        #expect(try !EdgeConfiguration(load([])).limits.refusals.isUnlimited)
    }

    @Test("the name of each rate leads to the key that sets it")
    func keys() {
        let keys = Set(EdgeKeys.declarations.map(\.name))
        for rate in RateLimit.allCases { #expect(keys.contains(rate.key), "\(rate.rawValue)") }
    }

    private func load(
        _ arguments: [String], file: String = ""
    ) throws(ConfigurationError) -> Configuration {
        let schema = ConfigurationSchema(
            ConfiguredApp.keys + EdgeKeys.declarations, section: "edge")
        return try ConfigurationLoader(schema: schema, rules: EdgeKeys.rules, parse: FileNode.yaml) { _ in
            file
        }
        .load(arguments: arguments, environment: [:])
    }

    private func problems(_ arguments: [String]) -> [String] {
        do {
            _ = try load(arguments)
            return []
        } catch { return error.problems.map(\.description) }
    }
}
