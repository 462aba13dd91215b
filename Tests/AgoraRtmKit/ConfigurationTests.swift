import RTMClient
import RTMModel
import Testing

@testable import AgoraRtmKit

@Suite("Configuration")
struct ConfigurationTests {
    private let config = AgoraRtmClientConfig.local()

    private func privately(
        _ hosts: [String], _ services: AgoraRtmServiceType = [.message]
    ) -> AgoraRtmClientConfig {
        let privateConfig = AgoraRtmPrivateConfig()
        privateConfig.accessPointHosts = hosts
        privateConfig.serviceType = services
        config.privateConfig = privateConfig
        return config
    }

    private func failure(_ config: AgoraRtmClientConfig) -> RTMError? {
        do throws(RTMError) {
            _ = try config.clientConfiguration()
            return nil
        } catch {
            return error
        }
    }

    // MARK: Values

    @Test("two labels suffice, the rest has the documented defaults")
    func defaults() {
        let config = AgoraRtmClientConfig(appId: "demo", userId: "alice")
        #expect(config.useStringUserId)
        #expect(!config.multipath)
        #expect(!config.ispPolicyEnabled)
        #expect(config.presenceTimeout == 300)
        #expect(config.heartbeatInterval == 5)
        #expect(config.reconnectTimeout == 0)
        #expect(config.areaCode == .GLOB)
        #expect(config.protocolType == .tcpUdp)
        #expect(config.proxyConfig == nil && config.logConfig == nil)
        #expect(config.encryptionConfig == nil && config.privateConfig == nil)
        #expect(config.callbackQueue == nil)
    }

    @Test("all fifteen labels can be said, in the order of the documents (N-4, N-5, N-6)")
    func fifteenLabels() {
        let queue = DispatchQueue(label: "test")
        let config = AgoraRtmClientConfig(
            appId: "demo", userId: "7", useStringUserId: false, multipath: true, ispPolicyEnabled: true,
            presenceTimeout: 30, heartbeatInterval: 10, reconnectTimeout: 60, areaCode: [.CN, .NA],
            proxyConfig: AgoraRtmProxyConfig(), protocolType: .tcpOnly, logConfig: AgoraRtmLogConfig(),
            encryptionConfig: AgoraRtmEncryptionConfig(), privateConfig: AgoraRtmPrivateConfig(),
            callbackQueue: queue)
        #expect(config.userId == "7")
        #expect(config.areaCode.rawValue == 3)
        #expect(config.callbackQueue === queue)
    }

    @Test("the parts have the documented defaults (L-48)")
    func parts() {
        #expect(AgoraRtmLogConfig().fileSizeInKB == 1024)
        #expect(AgoraRtmLogConfig().level == .info)
        let proxy = AgoraRtmProxyConfig(server: "proxy", port: 3128, proxyType: .http)
        #expect(proxy.server == "proxy" && proxy.port == 3128 && proxy.proxyType == .http)
        #expect(AgoraRtmProxyConfig().proxyType == .none)
        #expect(AgoraRtmPrivateConfig().serviceType == .none)
        #expect(AgoraRtmPrivateConfig().accessPointHosts.isEmpty)
    }

    @Test("the salt has two names")
    func salt() {
        let encryption = AgoraRtmEncryptionConfig()
        encryption.encryptionKdfSalt = Data([1])
        #expect(encryption.encryptionSalt == Data([1]))
    }

    @Test("a copy of a part has its values and is another object")
    func copies() throws {
        let log = AgoraRtmLogConfig()
        log.filePath = "agora.log"
        log.level = .warn
        let copy = try #require(log.copy() as? AgoraRtmLogConfig)
        #expect(copy !== log && copy.filePath == "agora.log" && copy.level == .warn)
        let proxy = AgoraRtmProxyConfig(server: "proxy", port: 1, proxyType: .http)
        proxy.account = "me"
        #expect((proxy.copy() as? AgoraRtmProxyConfig)?.account == "me")
        let encryption = AgoraRtmEncryptionConfig()
        encryption.encryptionKey = "key"
        #expect((encryption.copy() as? AgoraRtmEncryptionConfig)?.encryptionKey == "key")
    }

    // MARK: Mapping

    @Test("times reach the client below, and 0 means to reconnect for ever (L-47)")
    func times() throws {
        config.presenceTimeout = 30
        config.heartbeatInterval = 10
        let configuration = try config.clientConfiguration()
        #expect(configuration.appID == "demo" && configuration.userID == "alice")
        #expect(configuration.presenceTimeout == .seconds(30))
        #expect(configuration.heartbeatInterval == .seconds(10))
        #expect(configuration.reconnectTimeout == nil)
    }

    @Test(
        "reconnectTimeout is clamped to 15…3600 s (L-47)",
        arguments: [(1, 15), (15, 15), (60, 60), (3600, 3600), (9999, 3600)])
    func reconnectTimeout(given: UInt32, used: Int) throws {
        config.reconnectTimeout = given
        #expect(try config.clientConfiguration().reconnectTimeout == .seconds(used))
    }

    @Test(
        "a numeric user id is a number from 1 to 4294967295 (L-3)",
        arguments: ["1", "42", "4294967295"])
    func numericUserId(userId: String) throws {
        config.useStringUserId = false
        config.userId = userId
        #expect(try config.clientConfiguration().userID == userId)
    }

    @Test(
        "without useStringUserId other user ids are refused (L-3)",
        arguments: ["", "0", "alice", "4294967296", "-1", "+1", "1.0", " 1", "٣"])
    func otherUserIds(userId: String) {
        config.useStringUserId = false
        config.userId = userId
        #expect(failure(config)?.code == .invalidUserId)
    }

    @Test("N-1: the proxy reaches the client below, and none is none")
    func proxy() throws {
        let proxy = AgoraRtmProxyConfig()
        config.proxyConfig = proxy
        #expect(try config.clientConfiguration().proxy == nil)
        (proxy.server, proxy.port, proxy.proxyType) = ("proxy", 3128, .http)
        #expect(try config.clientConfiguration().proxy == .http(host: "proxy", port: 3128))
        (proxy.account, proxy.password) = ("me", "secret")
        #expect(
            try config.clientConfiguration().proxy
                == .http(
                    host: "proxy", port: 3128, credentials: .init(account: "me", password: "secret")))
        proxy.proxyType = .cloudTcp
        #expect(failure(config)?.code == .invalidParameter)
        (proxy.account, proxy.password) = (nil, nil)
        #expect(try config.clientConfiguration().proxy == .relay(host: "proxy", port: 3128))
    }

    @Test(
        "N-1: a proxy without server or port is refused when the client is made (-10014)",
        arguments: [AgoraRtmProxyType.http, .cloudTcp])
    func incompleteProxy(type: AgoraRtmProxyType) {
        for (server, port) in [("", 3128), ("proxy", 0)] as [(String, UInt16)] {
            config.proxyConfig = AgoraRtmProxyConfig(server: server, port: port, proxyType: type)
            let error = #expect(throws: AgoraRtmErrorInfo.self) {
                try AgoraRtmClientKit(config, delegate: nil)
            }
            #expect(error?.errorCode == .invalidParameter)
        }
    }

    @Test(
        "E-1, L-49: mode, key and salt of the encryption have to fit together (-10020)",
        arguments: [
            (.AES128GCM, nil, 32), (.AES256GCM, "", 32), (.AES256GCM, "key", nil), (.AES256GCM, "key", 31),
            (.AES128GCM, "key", 33), (.none, "key", nil), (.none, nil, 32), (.none, "key", 32),
        ] as [(AgoraRtmEncryptionMode, String?, Int?)])
    func badEncryption(mode: AgoraRtmEncryptionMode, key: String?, saltBytes: Int?) {
        let encryption = AgoraRtmEncryptionConfig()
        encryption.encryptionMode = mode
        encryption.encryptionKey = key
        encryption.encryptionSalt = saltBytes.map { Data(count: $0) }
        config.encryptionConfig = encryption
        #expect(failure(config)?.code == .invalidEncryptionParameter)
        #expect(failure(config)?.operation == "init")
    }

    @Test("E-1: the modes of the encryption reach the client below")
    func encryption() throws {
        let encryption = AgoraRtmEncryptionConfig()
        config.encryptionConfig = encryption
        #expect(try config.clientConfiguration().encryptionKeys.isEmpty)
        (encryption.encryptionKey, encryption.encryptionKdfSalt) = ("key", Data(count: 32))
        encryption.encryptionMode = .AES128GCM
        #expect(try config.clientConfiguration().encryptionKeys.map(\.mode) == [.aes128GCM])
        encryption.encryptionMode = .AES256GCM
        #expect(try config.clientConfiguration().encryptionKeys.map(\.mode) == [.aes256GCM])
    }

    // MARK: Access points

    @Test("N-2, N-11: without privateConfig, RTM_SERVER and RTMServer no client can be made (-10024)")
    func withoutAddresses() {
        config.privateConfig = nil
        #expect(failure(config)?.code == .invalidPrivateConfig)
        for name in ["privateConfig", "RTM_SERVER", "RTMServer"] {
            #expect(failure(config)?.reason.contains(name) == true)
        }
    }

    private func found(
        _ environment: [String: String], _ information: (any Sendable)?, in area: AgoraRtmAreaCode = .GLOB
    ) throws(RTMError) -> [String]? {
        try DefaultServers.accessPoints(environment: environment, information: information, in: area)?
            .servers.map(\.description)
    }

    @Test("N-11: the environment says where the servers are, or else Info.plist, with one address or several")
    func defaultServers() throws {
        #expect(try found([:], nil) == nil)
        #expect(try found(["RTM_SERVER": " "], "") == nil)
        #expect(try found([:], 7) == nil, "something else has that name")
        #expect(try found(["RTM_SERVER": "127.0.0.1"], nil) == ["127.0.0.1:7710"])
        #expect(try found(["RTM_SERVER": "localhost:1, [::1]:2"], "b") == ["localhost:1", "[::1]:2"])
        #expect(try found(["OTHER": "a"], "b.example:1 c.example") == ["b.example:1", "c.example:7710"])
        #expect(try found([:], ["b.example", "c.example:2"]) == ["b.example:7710", "c.example:2"])
        let areas = "a:1#EU,NA, b:2#CN,c:3"
        #expect(try found(["RTM_SERVER": areas], nil, in: .NA) == ["a:1", "c:3"], "N-6")
        let plain = try DefaultServers.accessPoints(
            environment: ["RTM_SERVER": "tcp://rtm.example.com"], information: nil, in: .GLOB)
        #expect(plain?.tls == .disabled, "N-3")
        let bad = #expect(throws: RTMError.self) { try found(["RTM_SERVER": "a:b"], nil) }
        #expect(bad?.code == .invalidPrivateConfig)
        let mixed = #expect(throws: RTMError.self) { try found([:], "localhost,a.example") }
        #expect(mixed?.reason.contains("RTMServer") == true)
    }

    @Test("N-3: authorities of the app's own reach the client below")
    func authorities() throws {
        let config = privately(["rtm.example.com"])
        config.privateConfig?.caFile = "own.pem"
        #expect(try config.clientConfiguration().tls == .enabled(caFile: "own.pem"))
    }

    @Test("hosts keep their order, with and without port (N-2)")
    func hosts() throws {
        let configuration = try privately(["a.example", "b.example:8000", "[2001:db8::1]:8001"])
            .clientConfiguration()
        #expect(
            configuration.servers == [
                ServerAddress(host: "a.example"), ServerAddress(host: "b.example", port: 8000),
                ServerAddress(host: "2001:db8::1", port: 8001),
            ])
    }

    @Test(
        "loopback is plain, everything else TLS, unless a scheme says otherwise (N-3)",
        arguments: [
            ("127.0.0.1", true), ("127.1.2.3:9", true), ("localhost:8000", true), ("LOCALHOST", true),
            ("[::1]:8000", true), ("example.com", false), ("127.example.com", false), ("10.0.0.1", false),
            ("127.0.0.1.example.com", false), ("tls://127.0.0.1", false), ("tcp://example.com:1", true),
            ("TLS://localhost", false), ("tcp://[2001:db8::1]:5", true), ("127.0.0.", false),
            ("ws://example.com/rtm", true), ("wss://127.0.0.1:7714", false),
        ])
    func schemes(host: String, isPlain: Bool) throws {
        let configuration = try privately([host]).clientConfiguration()
        #expect(configuration.tls == (isPlain ? .disabled : .enabled()))
        #expect(configuration.servers.count == 1)
        #expect(configuration.servers[0].host.contains("/") == false)
    }

    @Test(
        "unusable hosts give -10024 and are named (N-2)",
        arguments: [
            "", "a:b", "a:0", "a:70000", "[::1", "https://a", "tls://", "tcp://:7", "wss://", "ws://a:b/rtm",
        ])
    func unusable(host: String) {
        let error = failure(privately([host]))
        #expect(error?.code == .invalidPrivateConfig)
        #expect(error?.operation == "init")
    }

    @Test("both services and hosts must be said (N-2)")
    func incomplete() {
        #expect(failure(privately(["a"], []))?.reason.contains("serviceType") == true)
        #expect(failure(privately([]))?.reason.contains("accessPointHosts") == true)
        #expect(failure(privately([]))?.code == .invalidPrivateConfig)
    }

    @Test("hosts that would be reached in different ways are refused, not guessed")
    func mixed() {
        #expect(failure(privately(["127.0.0.1", "a.example"]))?.code == .invalidPrivateConfig)
        #expect(failure(privately(["tls://127.0.0.1", "a.example"])) == nil)
    }

    @Test(
        "N-6: areaCode chooses among the hosts that name areas, and those without serve all",
        arguments: [
            (.GLOB, ["a", "b", "c", "d"]), ([.CN], ["a", "c", "d"]), ([.NA, .JP], ["b", "c", "d"]),
            ([.EU], ["b", "d"]), ([], ["d"]),
        ] as [(AgoraRtmAreaCode, [String])])
    func areas(areaCode: AgoraRtmAreaCode, used: [String]) throws {
        config.areaCode = areaCode
        let servers = try privately(["a:1#CN", "tls://b#EU,NA", "wss://c/rtm#CN,JP", "d"])
            .clientConfiguration().servers
        #expect(servers.map(\.host) == used)
    }

    @Test("N-6: an area that doesn't exist, and no server in the areas, are refused by name (-10024)")
    func badAreas() {
        for host in ["a#", "a#XX", "a#eu", "a#EU,", "#EU"] {
            #expect(failure(privately([host]))?.code == .invalidPrivateConfig)
        }
        config.areaCode = [.IN]
        #expect(failure(privately(["a#EU", "b#CN"]))?.reason.contains("areaCode") == true)
    }

    @Test("N-10: ispPolicyEnabled changes nothing: the client knows no servers but those that are named")
    func ispPolicy() throws {
        config.ispPolicyEnabled = true
        #expect(try config.clientConfiguration().servers == [ServerAddress(host: "127.0.0.1")])
    }
}
