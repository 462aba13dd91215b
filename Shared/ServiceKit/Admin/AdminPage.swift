internal import Synchronization

/// A page of a service's own at the admin port. The service sets its content from time to time, and the
/// port reads it on another thread.
package final class AdminPage: Sendable {
    private let json = Mutex("{}")

    package init() {}

    package var text: String { json.withLock { $0 } }

    package func show(_ json: String) { self.json.withLock { $0 = json } }
}

/// The pages that the services of a process have beside those that every program has.
package final class AdminPageRegistry: Sendable {
    private enum Page {
        case shown(AdminPage)
        case asked(AdminRoute)
    }

    private let pages = Mutex<[String: Page]>([:])

    package init() {}

    /// - Parameter path: begins with a slash; no other service of the process has it.
    func page(_ path: String) -> AdminPage {
        let page = AdminPage()
        add(.shown(page), path)
        return page
    }

    /// - Parameter path: begins with a slash; no other service of the process has it.
    func add(_ path: String, _ route: AdminRoute) { add(.asked(route), path) }

    private func add(_ page: Page, _ path: String) {
        pages.withLock { pages in
            precondition(pages[path] == nil, "two admin pages are named \(path)")
            pages[path] = page
        }
    }

    var paths: [String] { pages.withLock { $0.keys.sorted() } }

    subscript(path: String) -> AdminPage? {
        if case .shown(let page)? = pages.withLock({ $0[path] }) { page } else { nil }
    }

    func route(_ path: String) -> AdminRoute? {
        if case .asked(let route)? = pages.withLock({ $0[path] }) { route } else { nil }
    }
}
