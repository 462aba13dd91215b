import RTMConfigurationFile
import RTMEdgeServer
import RTMServiceKit
import RTMWebhookCall

@main struct EdgeMain: ServiceMain {
    static let program = ServiceProgram(
        EdgeDefinition.service(hooks: HTTPPublishHook.make, keys: HTTPKeyDownload.make),
        admin: HostPort(host: "127.0.0.1", port: 7711))
}
