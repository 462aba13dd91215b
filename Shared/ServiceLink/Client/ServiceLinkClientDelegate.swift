package import RTMModel

/// How an accepted request ended. Each request has exactly one outcome.
package enum ServiceLinkOutcome {
    /// The response's bytes, which are valid during the call.
    case success(UnsafeRawBufferPointer)
    /// The service refused.
    indirect case failed(RTMError)
    /// No answer came in time. The service may have done it nevertheless.
    case timedOut
    /// The link was lost before an answer came. The service may have done it nevertheless.
    case disconnected
}

/// Who calls a service and receives from it. All calls come on the link's event loop, and never from within a
/// call to the link.
package protocol ServiceLinkClientDelegate: AnyObject {
    /// The link accepts requests from now on.
    func linkUp(_ link: ServiceLinkClient, peer: ServiceLinkPeer)
    /// The link is down. Open requests have completed as `disconnected` before. This comes only after
    /// `linkUp`, and the link comes back by itself.
    func linkDown(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason)
    /// An attempt to connect has failed. The next one follows by itself.
    func linkUnreachable(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason)
    /// - Parameter context: what the request was sent with.
    func response(_ link: ServiceLinkClient, to method: UInt32, _ context: Int, _ outcome: ServiceLinkOutcome)
    /// `body` is valid during the call.
    func push(_ link: ServiceLinkClient, method: UInt32, body: UnsafeRawBufferPointer)
    /// The link was shut down and lets go of its delegate. This is the last call.
    func linkRetired(_ link: ServiceLinkClient)
}

extension ServiceLinkClientDelegate {
    package func linkRetired(_ link: ServiceLinkClient) {}
    package func linkUnreachable(_ link: ServiceLinkClient, _ reason: ServiceLinkDownReason) {}
}
