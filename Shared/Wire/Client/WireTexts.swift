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

    package subscript(place: Int) -> WireText { WireText(texts[place]) }
}
