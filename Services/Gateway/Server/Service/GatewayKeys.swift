import RTMModel
package import RTMServiceKit

/// The configuration keys of a gateway.
package struct GatewayKeys: ServiceKeys {
    package static let table = Self()

    package let listen = ConfigurationKey<HostPort>.address(
        "gateway.listen", default: HostPort(host: "127.0.0.1", port: 7750),
        "Where backends call over HTTP in the clear; keep it to trusted networks or behind a proxy that does TLS."
    )
    package let tlsListen = ConfigurationKey<HostPort?>.optionalAddress(
        "gateway.tls.listen", "Where backends call over HTTPS; needs the certificate and the key.")
    package let tlsCertificate = ConfigurationKey<String?>.optionalFile(
        "gateway.tls.certificate", "PEM file with the certificate chain, the server's own certificate first."
    ).live.certificates
    package let tlsKey = ConfigurationKey<String?>.optionalFile(
        "gateway.tls.key", "PEM file with the private key of the certificate."
    ).live
    package let messaging = ServiceAddressesKey(
        "gateway.messaging", default: "127.0.0.1:7720",
        "Messaging nodes, as HOST:PORT. Nodes with a journal in Redis announce the addresses of the others.")
    package let presence = ServiceAddressesKey(
        "gateway.presence", default: "127.0.0.1:7730",
        "Presence nodes, as HOST:PORT, of which any will do; several have to share a Redis. Without a link to one, the next is tried."
    )
    package let storage = ServiceAddressesKey(
        "gateway.storage", default: "127.0.0.1:7740",
        "Storage nodes, as HOST:PORT. Several share a PostgreSQL, and announce the addresses of the others.")
    /// Live, so that a key is made or revoked without a restart.
    package let keys = ConfigurationKey<[APIKeyRecord]>.records(
        "gateway.keys", default: [], countMax: 10_000,
        "The API keys, as \"rtm key create\" makes them: id, hash of the secret, app (* for all), scopes joined by "
            + "+ (read, publish, moderate, admin), and optionally the channels' prefix and the day of expiry."
    ).live
    /// Live, so that a page gets access without a restart.
    package let origins = ConfigurationKey<[String]>.list(
        "gateway.origins", countMax: 100,
        "Origins such as https://app.example.com whose pages may call the API from a browser, with a key or token of their own (W-81)."
    ).live
    package let webhooks = ConfigurationKey<[WebhookRecord]>.records(
        "gateway.webhooks.endpoints", default: [], countMax: 1_000,
        "Where events are posted to: app, name, url, secret (as \"rtm webhook secret\" makes it), and "
            + "optionally the secret before it, types of events joined by +, the channels' prefix, events of one request (batch, 100) and requests at once (parallel, 8)."
    ).live
    package let privateAddresses = ConfigurationKey<[String]>.list(
        "gateway.webhooks.privateAddresses", countMax: 100,
        "Networks such as 10.1.0.0/16 that webhooks may connect to, beside public addresses.")
    package let webhookTimeout = ConfigurationKey<Duration>.duration(
        "gateway.webhooks.timeout", default: .seconds(10), in: .milliseconds(100) ... .seconds(60),
        "How long the receiver of a webhook may take for its answer.")
    package let giveUpAfter = ConfigurationKey<Duration>.duration(
        "gateway.webhooks.giveUpAfter", default: .seconds(86_400), in: .seconds(10) ... .seconds(30 * 86_400),
        "For how long an event is tried before it becomes a dead letter.")
    package let webhookLease = ConfigurationKey<Duration>.duration(
        "gateway.webhooks.lease", default: .seconds(15), in: .seconds(1) ... .seconds(60),
        "How long after a gateway has died another one delivers its webhooks.")
    package let consoleEdges = ConfigurationKey<[String]>.list(
        "gateway.console.edges", countMax: 16,
        "WebSockets of edges that the pages of the console connect to, such as wss://rtm.example.com/rtm.")
    /// Live, so that a node is added without a restart.
    package let nodes = ConfigurationKey<[String]>.list(
        "gateway.nodes", countMax: 256,
        "Admin ports of all nodes, as HOST:PORT, whose state, warnings and configuration the console shows; "
            + "a name with several addresses stands for a node at each."
    ).live
    package let eventsPerKeyMax = ConfigurationKey<Int>.int(
        "gateway.events.perKeyMax", default: 100, in: 1...1_000_000,
        "Requests with one API key at one gateway that wait for events or stream them at one time; one more is answered with 429."
    ).live
    package let connectionsMax = ConfigurationKey<Int>.int(
        "gateway.connections.max", default: 10_000, in: 1...1_000_000,
        "HTTP connections at once on each listener. One more replaces the oldest that has sent no credential, or is answered with 503."
    )
    package let connectionsPerAddressMax = ConfigurationKey<Int>.int(
        "gateway.connections.perAddressMax", default: 2_000, in: 1...1_000_000,
        "HTTP connections at once on each listener from one address; raise it when a proxy hides the clients' own."
    )
    package let outboundTimeout = ConfigurationKey<Duration>.duration(
        "gateway.outbound.timeout", default: .seconds(30), in: .seconds(1) ... .seconds(3_600),
        "How long a client may leave what waits for it unread; it has to read 16 KiB in that time, if so much waits."
    )
    package let outboundTotalBytesMax = ConfigurationKey<Int>.byteSize(
        "gateway.outbound.totalBytesMax", default: 256 << 20, in: 1 << 20...64 << 30,
        "How many bytes all connections of a listener together may leave unread; beyond it, those that hold the most lose first."
    )
    package let bodyBytesMax = ConfigurationKey<Int>.byteSize(
        "gateway.body.bytesMax", default: 4 << 20, in: 64 * 1024...64 << 20,
        "The longest body of a request; a longer one is answered with 413.")
    package let bodiesTotalBytesMax = ConfigurationKey<Int>.byteSize(
        "gateway.bodies.totalBytesMax", default: 128 << 20, in: 1 << 20...64 << 30,
        "How many bytes the bodies under way may have together. An app may have as many as are free beside it, half if it is alone, and one caller a third; beyond it a body is answered with 429. At least four of the longest bodies fit."
    )
    package let pagesTotalBytesMax = ConfigurationKey<Int>.byteSize(
        "gateway.pages.totalBytesMax", default: 256 << 20, in: 16 << 20...64 << 30,
        "How many bytes of history, events and other pages may be under way from storage to backends; shared as those of bodies."
    )
    package let idleTimeout = ConfigurationKey<Duration>.duration(
        "gateway.idleTimeout", default: .seconds(75), in: .seconds(1) ... .seconds(3_600),
        "How long a connection may be silent, between two requests or within one; then it is closed, up to a fifth later. Longer than load balancers keep theirs, so that they close first."
    )
    package let keyRate = ConfigurationKey<Int>.int(
        "gateway.rates.key", default: 500, in: 0...10_000_000,
        "Requests per second with one API key at one gateway, twice that at once; each message counts as one, and each whole 8 KiB of a body or a page. 0 means no limit (R-11)."
    ).live
    package let userRate = ConfigurationKey<Int>.int(
        "gateway.rates.user", default: 60, in: 0...10_000_000,
        "Requests per second of one user with a token at one gateway, twice that at once; each message counts as one, and each whole 8 KiB of a body or a page. 0 means no limit (R-11)."
    ).live
    package let appRate = ConfigurationKey<Int>.int(
        "gateway.rates.app", default: 5_000, in: 0...10_000_000,
        "Requests per second for one app at one gateway, twice that at once; each message counts as one, and each whole 8 KiB of a body or a page. 0 means no limit (R-11)."
    ).live

    /// What the listener with TLS shows.
    static let identity = TLSIdentityKeys(tlsCertificate, tlsKey)
}
