import AgoraRtmKit

extension AgoraRtmClientConfig {
    /// A configuration that is complete. Nothing needs to listen at its address.
    static func local(appId: String = "demo", userId: String = "alice") -> AgoraRtmClientConfig {
        let config = AgoraRtmClientConfig(appId: appId, userId: userId)
        let privateConfig = AgoraRtmPrivateConfig()
        privateConfig.serviceType = [.message, .stream]
        privateConfig.accessPointHosts = ["127.0.0.1:7710"]
        config.privateConfig = privateConfig
        return config
    }
}
