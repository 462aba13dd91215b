import RTMProtocolC

/// A state where a client's request has it: a view that lives as long as the request.
package struct StateItemView: WireListElement {
    package let key: WireText
    package let value: WireText

    package init(at message: UnsafeRawPointer) {
        let item = message.assumingMemoryBound(to: Rtm__Client__StateItem.self).pointee
        (key, value) = (WireText(item.key), WireText(item.value))
    }
}

extension StateItem {
    /// A copy; nil if it isn't valid UTF-8.
    package init?(_ view: StateItemView) {
        guard view.key.isValidUTF8, view.value.isValidUTF8 else { return nil }
        self.init(key: view.key.string, value: view.value.string)
    }

    /// Within a message between services.
    init(decoded message: UnsafeMutablePointer<Rtm__Client__StateItem>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        try self.init(
            key: WireText(message.key).copiedIfValid(), value: WireText(message.value).copiedIfValid())
    }
}
