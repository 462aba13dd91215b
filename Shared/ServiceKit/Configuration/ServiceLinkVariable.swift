/// The variables that Kubernetes puts into each container for each Service of the namespace, unless the pod
/// says `enableServiceLinks: false`. For a Service `rtm-edge` they are called `RTM_EDGE_SERVICE_HOST`,
/// `RTM_EDGE_PORT` or `RTM_EDGE_PORT_7710_TCP_ADDR`, and nobody has set them by hand. Pure.
enum ServiceLinkVariable {
    /// - Parameter value: decides where somebody might have meant a setting by the name: `RTM_EDGE_PORT` is
    ///   one of Kubernetes only if it is like `tcp://10.0.0.11:7710`.
    static func isOne(_ name: String, _ value: String) -> Bool {
        let ofPort = #/RTM(_\w+)?_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?/#
        let ofService = #/RTM(_\w+)?_SERVICE_(HOST|PORT(_\w+)?)/#
        if name.wholeMatch(of: ofPort) != nil || name.wholeMatch(of: ofService) != nil { return true }
        return name.wholeMatch(of: #/RTM(_\w+)?_PORT/#) != nil
            && value.prefixMatch(of: #/(tcp|udp|sctp)://#) != nil
    }
}
