/// The version of the envelope and of the service schemas. Both ends of a link must have the same one, so
/// another number would make an upgrade of one process after the other impossible
/// (docs/operations/upgrade.md): add fields, methods and kinds of frames instead.
package enum ServiceLinkVersion {
    package static let current: UInt32 = 3
}
