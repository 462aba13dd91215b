import AgoraRtmKit
import RTMTestSupport
import Synchronization
import Testing

/// The promises of the facade without a server. No test here needs a listener anywhere.
@Suite("AgoraRtmClientKit", .ends(withinMinutes: 1))
struct ClientKitTests {
    typealias Result = (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?)

    private func makeKit(
        _ change: (AgoraRtmClientConfig) -> Void = { _ in }
    ) throws -> AgoraRtmClientKit {
        let config = AgoraRtmClientConfig.local()
        change(config)
        return try AgoraRtmClientKit(config, delegate: nil)
    }

    /// All calls but login, in both forms.
    private static let calls: [(name: String, call: @Sendable (AgoraRtmClientKit) async -> [Result])] = [
        ("logout", { kit in [await kit.logout(), await block { kit.logout($0) }] }),
        (
            "renewToken",
            { kit in [await kit.renewToken("token"), await block { kit.renewToken("token", completion: $0) }]
            }
        ),
        (
            "subscribe",
            { kit in
                [
                    await kit.subscribe(channelName: "lobby", option: nil),
                    await block { kit.subscribe(channelName: "lobby", option: nil, completion: $0) },
                ]
            }
        ),
        (
            "unsubscribe",
            { kit in
                [await kit.unsubscribe("lobby"), await block { kit.unsubscribe("lobby", completion: $0) }]
            }
        ),
        (
            "publish",
            { kit in
                let options = AgoraRtmPublishOptions()
                options.channelType = .user
                return [
                    await kit.publish(channelName: "lobby", message: "hi", option: nil),
                    await block {
                        kit.publish(channelName: "lobby", message: "hi", option: nil, completion: $0)
                    },
                    await kit.publish(channelName: "bob", data: Data([1]), option: options),
                    await block {
                        kit.publish(channelName: "lobby", data: Data([1]), option: nil, completion: $0)
                    },
                ]
            }
        ),
    ]

    private static func block(_ begin: (@escaping AgoraRtmOperationBlock) -> Void) async -> Result {
        await withCheckedContinuation { continuation in
            begin { continuation.resume(returning: ($0, $1)) }
        }
    }

    // MARK: Creation

    @Test(
        "an unusable configuration throws its code and sends nothing (S-0c)",
        arguments: [
            ("", "alice", AgoraRtmErrorCode.invalidAppId), ("demo", "", .invalidUserId),
            ("demo", "al*ce", .invalidUserId), ("demo", String(repeating: "a", count: 65), .invalidUserId),
        ])
    func refusals(appId: String, userId: String, code: AgoraRtmErrorCode) {
        let error = #expect(throws: AgoraRtmErrorInfo.self) {
            try AgoraRtmClientKit(.local(appId: appId, userId: userId), delegate: nil)
        }
        #expect(error?.errorCode == code)
        #expect(error?.operation == "init")
        #expect(error?.reason.isEmpty == false)
    }

    @Test("an incomplete private configuration throws -10024, a bad encryption -10020 (E-1)")
    func otherRefusals() {
        let incomplete = #expect(throws: AgoraRtmErrorInfo.self) {
            try makeKit { $0.privateConfig = AgoraRtmPrivateConfig() }
        }
        #expect(incomplete?.errorCode == .invalidPrivateConfig)
        let encrypted = #expect(throws: AgoraRtmErrorInfo.self) {
            try makeKit { config in
                config.encryptionConfig = AgoraRtmEncryptionConfig()
                config.encryptionConfig?.encryptionMode = .AES128GCM
            }
        }
        #expect(encrypted?.errorCode == .invalidEncryptionParameter)
    }

    @Test("several clients live in one process")
    func several() throws {
        let kits = try (0..<8).map { number in try makeKit { $0.userId = "user\(number)" } }
        #expect(kits.map { $0.destroy() } == Array(repeating: .ok, count: 8))
    }

    @Test("later changes of the configuration have no effect")
    func configurationIsCopied() async throws {
        let config = AgoraRtmClientConfig.local()
        let privateConfig = AgoraRtmPrivateConfig()
        privateConfig.serviceType = [.stream]
        privateConfig.accessPointHosts = ["127.0.0.1"]
        config.privateConfig = privateConfig
        let kit = try AgoraRtmClientKit(config, delegate: nil)
        privateConfig.serviceType = [.message]
        #expect(await kit.unsubscribe("lobby").1?.errorCode == .serviceNotSupport)
    }

    // MARK: Calls without a session

    @Test(
        "before login every call fails with -10002 and its own name, in both forms (S-8, S-0b)",
        arguments: 0..<5)
    func beforeLogin(number: Int) async throws {
        let (name, call) = Self.calls[number]
        for (response, error) in await call(try makeKit()) {
            #expect(response == nil)
            #expect(error?.errorCode == .notLogin)
            #expect(error?.operation == name)
            #expect(error?.reason.isEmpty == false)
        }
    }

    @Test("after destroy every call fails with -10018, in both forms (S-9)", arguments: 0..<5)
    func afterDestroy(number: Int) async throws {
        let (name, call) = Self.calls[number]
        let kit = try makeKit()
        kit.destroy()
        for (response, error) in await call(kit) {
            #expect(response == nil)
            #expect(error?.errorCode == .instanceAlreadyReleased)
            #expect(error?.operation == name)
        }
        #expect(await kit.login("token").1?.errorCode == .instanceAlreadyReleased)
        #expect(await Self.block { kit.login(nil, completion: $0) }.1?.errorCode == .instanceAlreadyReleased)
    }

    @Test("a service that privateConfig leaves out gives -10022 (N-2)", arguments: 2..<5)
    func serviceLeftOut(number: Int) async throws {
        let kit = try makeKit { config in
            let privateConfig = AgoraRtmPrivateConfig()
            privateConfig.serviceType = [.stream]
            privateConfig.accessPointHosts = ["127.0.0.1"]
            config.privateConfig = privateConfig
        }
        for (_, error) in await Self.calls[number].call(kit) {
            #expect(error?.errorCode == .serviceNotSupport)
        }
    }

    @Test("arguments that can't be sent are refused through the completion (S-0b)")
    func badArguments() async throws {
        let kit = try makeKit()
        let options = AgoraRtmPublishOptions()
        options.channelType = .stream
        let stream = await kit.publish(channelName: "lobby", message: "hi", option: options).1
        #expect(stream?.errorCode == .invalidChannelType)
        #expect(stream?.operation == "publish")
        #expect(await kit.subscribe(channelName: "", option: nil).1?.errorCode == .invalidChannelName)
        options.channelType = .user
        #expect(
            await kit.publish(channelName: "", message: "", option: options).1?.errorCode == .invalidUserId)
        let long = Data(count: 33 * 1024)
        let tooLong = await Self.block {
            kit.publish(channelName: "a", data: long, option: nil, completion: $0)
        }
        #expect(tooLong.1?.errorCode == .channelMessageLengthExceedLimitation)
    }

    // MARK: Order

    @Test("completion blocks come one at a time, and each exactly once (S-0a)")
    func oneAtATime() async throws {
        let kit = try makeKit()
        let count = 500
        let numbers = Mutex<[Int]>([])
        let isInside = Mutex(false)
        await withCheckedContinuation { continuation in
            for number in 0..<count {
                kit.publish(channelName: "lobby", message: "hi", option: nil) { _, _ in
                    #expect(isInside.withLock { $0.exchange(with: true) } == false)
                    let isLast = numbers.withLock { numbers in
                        numbers.append(number)
                        return numbers.count == count
                    }
                    isInside.withLock { $0 = false }
                    if isLast { continuation.resume() }
                }
            }
        }
        // A block that was called twice would be called before the one of a later call.
        await kit.logout()
        #expect(numbers.withLock { $0.sorted() } == Array(0..<count))
    }

    @Test("options are read when the call is made")
    func optionsAreCopied() async throws {
        let kit = try makeKit()
        let options = AgoraRtmPublishOptions()
        options.channelType = .stream
        let result = await Self.block { completion in
            kit.publish(channelName: "lobby", message: "hi", option: options, completion: completion)
            options.channelType = .message
        }
        #expect(result.1?.errorCode == .invalidChannelType)
    }

    @Test("calls without a completion block are legal")
    func withoutBlock() async throws {
        let kit = try makeKit()
        begin(kit)
        #expect(await kit.logout().0 != nil || kit.destroy() == .ok)
    }

    /// In a function that isn't `async` the compiler picks the block forms.
    private func begin(_ kit: AgoraRtmClientKit) {
        kit.login(nil)
        kit.publish(channelName: "lobby", message: "hi", option: nil)
        kit.logout()
    }

    // MARK: End

    @Test("destroy works once and says so the second time (S-9)")
    func destroyTwice() throws {
        let kit = try makeKit()
        #expect(kit.destroy() == .ok)
        #expect(kit.destroy() == .instanceAlreadyReleased)
    }

    @Test("destroy inside a completion block doesn't deadlock (S-9)")
    func destroyInside() async throws {
        let kit = try makeKit()
        let code = await withCheckedContinuation { continuation in
            kit.logout { [kit] _, _ in continuation.resume(returning: kit.destroy()) }
        }
        #expect(code == .ok)
        #expect(await kit.logout().1?.errorCode == .instanceAlreadyReleased)
    }

    @Test("destroy ends a login that is under way with -10018")
    func destroyDuringLogin() async throws {
        let kit = try makeKit { config in
            // This address is reserved for documentation: nobody answers there.
            config.privateConfig = AgoraRtmPrivateConfig()
            config.privateConfig?.serviceType = [.message]
            config.privateConfig?.accessPointHosts = ["tcp://192.0.2.1"]
        }
        let error = await Self.block { completion in
            kit.login(nil, completion: completion)
            kit.destroy()
        }.1
        #expect(error?.errorCode == .instanceAlreadyReleased)
    }

    @Test("a cancelled task completes its login at once, with -10099")
    func cancellation() async throws {
        let kit = try makeKit()
        let login = Task { await kit.login(nil) }
        login.cancel()
        #expect(await login.value.1?.errorCode == .cancelled)
    }

    @Test("a client that nobody refers to is released without destroy, also during a login")
    func release() async throws {
        var kit: AgoraRtmClientKit? = try makeKit()
        weak let observed = kit
        let completed = Mutex(false)
        kit?.login(nil) { _, error in completed.withLock { $0 = error != nil } }
        kit = nil
        try await eventually("the kit is released") { observed == nil }
        try await eventually("the login has completed") { completed.withLock { $0 } }
    }
}

extension Bool {
    fileprivate mutating func exchange(with value: Bool) -> Bool {
        defer { self = value }
        return self
    }
}
