/// The version of the envelope and of the service schemas. Both ends of a link must have the same one. The
/// services of an installation are updated together, and an end that is ahead is refused until its peer is
/// updated, too.
package enum ServiceLinkVersion {
    package static let current: UInt32 = 3
}
