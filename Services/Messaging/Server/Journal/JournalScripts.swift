import RTMRedis

/// The Lua scripts of the journal, which are embedded in the binary. The head of each one says what it takes,
/// returns and costs.
enum JournalScripts {
    static let take = script("take", PackageResources.take_lua)
    static let append = script("append", PackageResources.append_lua)
    static let reinstate = script("reinstate", PackageResources.reinstate_lua)
    static let offer = script("offer", PackageResources.offer_lua)
    static let release = script("release", PackageResources.release_lua)
    static let era = script("era", PackageResources.era_lua)
    static let register = script("register", PackageResources.register_lua)

    static let all = [take, append, reinstate, offer, release, era, register]

    private static func script(_ name: String, _ bytes: [UInt8]) -> RedisScript {
        RedisScript(name: name, source: String(decoding: bytes, as: UTF8.self))
    }
}
