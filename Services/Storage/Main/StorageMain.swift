import RTMConfigurationFile
import RTMServiceKit
import RTMStorageServer

#if PostgreSQL
    import RTMStoragePostgreSQL
#endif

@main struct StorageMain: ServiceMain {
    #if PostgreSQL
        private static let engine: (any DatabaseEngine)? = PostgresDatabase()
    #else
        private static let engine: (any DatabaseEngine)? = nil
    #endif

    static let program = ServiceProgram(
        StorageDefinition.service(engine), admin: HostPort(host: "127.0.0.1", port: 7741))
}
