/// The names of the services' methods, for people who look at traces.
package enum ServiceMethodName {
    private static let names: [String: [UInt32: String]] = [
        "messaging": MessagingMethod.names, "presence": PresenceMethod.names, "storage": StorageMethod.names,
    ]

    /// "messaging publish", or the method's number if it has no name in the schema.
    package static func of(_ method: UInt32, in service: String) -> String {
        "\(service) \(names[service]?[method] ?? "\(method)")"
    }
}
