import RTMConfigurationFile
import RTMServiceKit
import RTMStorageServer

@main struct StorageMain: ServiceMain {
    static let program = ServiceProgram(
        StorageDefinition.service, admin: HostPort(host: "127.0.0.1", port: 7741))
}
