import RTMModel
import RTMWire

/// What temporary states may be: at most 32 per user and channel by default (L-31), with keys and values of
/// limited size (L-14). Also merges them: a new value replaces the old one, other states stay (P-40).
package struct StateLimits: Sendable, Hashable {
    package var countMax: Int
    package var keyBytesMax: Int
    package var valueBytesMax: Int

    package init(countMax: Int, keyBytesMax: Int, valueBytesMax: Int) {
        self.countMax = countMax
        self.keyBytesMax = keyBytesMax
        self.valueBytesMax = valueBytesMax
    }

    /// Checks the items of a call and copies them.
    func checked(_ items: [(key: WireText, value: WireText)]) throws(RTMError) -> [StateItem] {
        guard !items.isEmpty else {
            throw RTMError(.presenceInvalidArgument, "the call sets no state")
        }
        // The call is refused before the items are copied: no call with distinct keys can be valid with more
        // of them.
        guard items.count <= countMax else { throw Self.tooMany(items.count, max: countMax) }
        var keys: Set<String> = []
        var states: [StateItem] = []
        for item in items {
            let key = try checked(key: item.key)
            guard keys.insert(key).inserted else {
                throw RTMError(.presenceStateDuplicateKey, "the state key \"\(key)\" is given twice")
            }
            states.append(StateItem(key: key, value: try checked(value: item.value)))
        }
        return states
    }

    private func checked(key: WireText) throws(RTMError) -> String {
        guard !key.isEmpty else { throw RTMError(.presenceInvalidStateKey, "a state key is empty") }
        guard key.bytes.count <= keyBytesMax else {
            throw RTMError(
                .presenceStateKeySizeOverflow,
                "a state key has \(key.bytes.count) bytes, \(keyBytesMax) are allowed",
                limit: .init(name: "state key bytes", value: UInt64(keyBytesMax)))
        }
        guard key.isValidUTF8 else {
            throw RTMError(.presenceInvalidStateKey, "a state key is not valid UTF-8")
        }
        return key.string
    }

    private func checked(value: WireText) throws(RTMError) -> String {
        guard value.bytes.count <= valueBytesMax else {
            throw RTMError(
                .presenceStateValueSizeOverflow,
                "a state value has \(value.bytes.count) bytes, \(valueBytesMax) are allowed",
                limit: .init(name: "state value bytes", value: UInt64(valueBytesMax)))
        }
        guard value.isValidUTF8 else {
            throw RTMError(.presenceInvalidStateValue, "a state value is not valid UTF-8")
        }
        return value.string
    }

    static func tooMany(_ count: Int, max: Int) -> RTMError {
        RTMError(
            .presenceStateCountOverflow, "the user would have \(count) states, \(max) are allowed",
            limit: .init(name: "states", value: UInt64(max)))
    }

    /// The states after the items have been set, in the order of their keys.
    static func merge(_ items: [StateItem], into states: [StateItem]) -> [StateItem] {
        let overwritten = Set(items.map(\.key))
        return (states.filter { !overwritten.contains($0.key) } + items)
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
