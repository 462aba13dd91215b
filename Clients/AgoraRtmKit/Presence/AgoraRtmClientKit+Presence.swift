extension AgoraRtmClientKit {
    /// Returns the calls about who is in channels and which states users show.
    ///
    /// The object keeps this client alive. After `destroy` its calls fail with `.instanceAlreadyReleased`
    /// (-10018).
    public func getPresence() -> AgoraRtmPresence? { AgoraRtmPresence(self) }
}
