extension AgoraRtmClientKit {
    /// Who is in channels, and what they show there.
    ///
    /// It keeps this client alive; after `destroy` its calls fail with -10018.
    public func getPresence() -> AgoraRtmPresence? { AgoraRtmPresence(self) }
}
