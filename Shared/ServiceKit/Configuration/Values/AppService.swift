/// What of the system is switched on for an app (S-4).
package enum AppService: String, Sendable, Hashable, CaseIterable {
    /// Everything.
    case all
    /// Everything but stream channels.
    case messages
    /// Nothing: nobody logs in.
    case none
}
