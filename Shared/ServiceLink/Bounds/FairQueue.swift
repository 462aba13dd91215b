import DequeModule

/// What waits for its turn. The apps have it one after the other, and within an app its callers, so nobody
/// who asks for much delays others by more than one turn each. Pure.
package struct FairQueue<Element> {
    /// Limits: what may wait of one caller, of one app, and in all.
    package struct Limits: Sendable, Hashable {
        package var perCaller: Int
        package var perApp: Int
        package var total: Int

        package init(perCaller: Int = 128, perApp: Int = 1_024, total: Int = 8_192) {
            (self.perCaller, self.perApp, self.total) = (perCaller, perApp, total)
        }
    }

    private struct App {
        var callers: [String: Deque<Element>] = [:]
        var order: Deque<String> = []
        var count = 0
    }

    private let limits: Limits
    private var apps: [String: App] = [:]
    private var order: Deque<String> = []
    package private(set) var count = 0

    package init(_ limits: Limits = Limits()) { self.limits = limits }

    package var isEmpty: Bool { count == 0 }

    /// - Returns: the limit that is reached; nil if the element waits.
    package mutating func put(_ element: Element, of app: String, by caller: String) -> Int? {
        guard count < limits.total else { return limits.total }
        var queue = apps.removeValue(forKey: app) ?? App()
        defer { if queue.count > 0 { apps[app] = queue } }
        guard queue.count < limits.perApp else { return limits.perApp }
        guard queue.callers[caller]?.count ?? 0 < limits.perCaller else { return limits.perCaller }
        if queue.count == 0 { order.append(app) }
        if queue.callers[caller] == nil { queue.order.append(caller) }
        queue.callers[caller, default: []].append(element)
        queue.count += 1
        count += 1
        return nil
    }

    /// What is next; nil if nothing waits.
    package var first: Element? {
        guard let app = order.first.flatMap({ apps[$0] }), let caller = app.order.first else { return nil }
        return app.callers[caller]?.first
    }

    /// Whether something of the app waits.
    package func hasWaiting(of app: String) -> Bool { apps[app] != nil }

    /// Takes out the first that is wanted of what is next of each caller. Who is passed over keeps the turn.
    package mutating func popFirst(where isWanted: (Element) -> Bool) -> Element? {
        for place in order.indices {
            guard var app = apps[order[place]],
                let turn = app.order.firstIndex(where: { app.callers[$0]?.first.map(isWanted) ?? false })
            else { continue }
            let name = order.remove(at: place)
            app.order.prepend(app.order.remove(at: turn))
            apps[name] = app
            order.prepend(name)
            return popFirst()
        }
        return nil
    }

    /// Takes out what is next. Its app and its caller have their next turn after all others.
    package mutating func popFirst() -> Element? {
        guard let name = order.popFirst(), var app = apps.removeValue(forKey: name),
            let caller = app.order.popFirst()
        else { return nil }
        let element = app.callers[caller]?.popFirst()
        if app.callers[caller]?.isEmpty ?? true {
            app.callers[caller] = nil
        } else {
            app.order.append(caller)
        }
        app.count -= 1
        count -= 1
        if app.count > 0 {
            apps[name] = app
            order.append(name)
        }
        return element
    }
}
