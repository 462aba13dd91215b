/// Memory that apps and their callers share while it is in use. An app may have as much as is free beside
/// it, and a caller as much as is free for its app: one alone gets a third, and however much some take,
/// there is something left for those who come. Pure.
package struct ByteShares: Sendable {
    private struct App {
        var bytes = 0
        var callers: [String: Int] = [:]
    }

    package let bytesMax: Int
    package private(set) var bytes = 0
    private var apps: [String: App] = [:]

    package init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// - Returns: whether there was room. Otherwise nothing is taken.
    package mutating func take(_ count: Int, of app: String, by caller: String) -> Bool {
        let (ofApp, ofCaller) = (apps[app]?.bytes ?? 0, apps[app]?.callers[caller] ?? 0)
        let freeForApp = bytesMax - bytes - ofApp
        guard count <= freeForApp - ofCaller, 2 * count <= freeForApp else { return false }
        bytes += count
        apps[app, default: App()].bytes += count
        apps[app]?.callers[caller, default: 0] += count
        return true
    }

    /// Gives back what was taken, or a part of it.
    package mutating func giveBack(_ count: Int, of app: String, by caller: String) {
        guard count > 0, var share = apps.removeValue(forKey: app) else { return }
        bytes -= count
        share.bytes -= count
        let ofCaller = (share.callers[caller] ?? 0) - count
        share.callers[caller] = ofCaller > 0 ? ofCaller : nil
        if share.bytes > 0 { apps[app] = share }
    }
}
