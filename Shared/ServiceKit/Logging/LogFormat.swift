/// How log lines look.
package enum LogFormat: String, Sendable, CaseIterable {
    /// Text when standard error is a terminal, otherwise JSON.
    case auto
    case text
    case json
}
