/// The few colours of a conversation, or none.
enum Palette: Sendable {
    case plain
    case colours

    /// Chooses colours for terminals, unless the user has refused them (no-color.org).
    init(isTerminal: Bool, environment: [String: String]) {
        let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        self = isTerminal && !isRefused && environment["TERM"] != "dumb" ? .colours : .plain
    }

    func quiet(_ text: String) -> String { paint(text, "2") }

    func own(_ text: String) -> String { paint(text, "1") }

    /// The same name always has the same colour.
    func name(_ text: String) -> String {
        var hash: UInt32 = 2_166_136_261
        for byte in text.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return paint(text, ["31", "32", "33", "34", "35", "36"][Int(hash % 6)])
    }

    private func paint(_ text: String, _ code: String) -> String {
        self == .plain || text.isEmpty ? text : "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
