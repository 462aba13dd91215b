/// A repeated message of a decoded request, read where protobuf-c put it. Like `WireText` it is valid for as
/// long as the request is, and costs no reference count: a request of any kind is copied and ended for free.
package struct WireList<Element: WireListElement>: RandomAccessCollection {
    /// protobuf-c leaves no hole among the pointers.
    private let messages: UnsafeBufferPointer<UnsafeRawPointer>

    package var startIndex: Int { 0 }
    package var endIndex: Int { messages.count }

    /// A list of nothing.
    package init() { messages = UnsafeBufferPointer(start: nil, count: 0) }

    init<Message>(_ messages: UnsafeMutablePointer<UnsafeMutablePointer<Message>?>?, count: Int) {
        let first = UnsafeRawPointer(messages)?.assumingMemoryBound(to: UnsafeRawPointer.self)
        self.messages = UnsafeBufferPointer(start: first, count: first == nil ? 0 : count)
    }

    package subscript(index: Int) -> Element { Element(at: messages[index]) }
}

package protocol WireListElement {
    /// - Parameter message: protobuf-c's structure of this message.
    init(at message: UnsafeRawPointer)
}

/// Repeated texts of a decoded request, read where protobuf-c put them. Like `WireList` they are valid for as
/// long as the request is, and cost no reference count.
package struct WireTexts: RandomAccessCollection {
    /// protobuf-c leaves no hole among the pointers.
    private let texts: UnsafeBufferPointer<UnsafeMutablePointer<CChar>?>

    package var startIndex: Int { 0 }
    package var endIndex: Int { texts.count }

    /// No texts.
    package init() { texts = UnsafeBufferPointer(start: nil, count: 0) }

    init(_ texts: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, count: Int) {
        self.texts = UnsafeBufferPointer(start: UnsafePointer(texts), count: texts == nil ? 0 : count)
    }

    package subscript(index: Int) -> WireText { WireText(texts[index]) }
}
