/// A message that is read where it lies. Views in it live as long as the bytes.
package protocol ScanDecodable {
    /// Unknown fields are skipped. If a field occurs twice, the last one counts.
    init(scanning bytes: UnsafeRawBufferPointer) throws(WireError)
}
