/// The version of the envelope and of the service schemas. Both ends of a link must have the same: the
/// services of an installation are rolled out together, and an end that is ahead is refused until its peer
/// has followed.
package enum ServiceLinkVersion {
    package static let current: UInt32 = 1
}
