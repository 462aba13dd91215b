/// The state of a client's link, for a view.
///
/// ```swift
/// struct OfflineBanner: View {
///     @StateObject var link: LinkModel          // OfflineBanner(link: LinkModel(client))
///     var body: some View {
///         if !link.isConnected { Text(link.reason) }
///     }
/// }
/// ```
///
/// It doesn't hold the client, and costs a message nothing. When several changes come at once the view is
/// updated once, with the last one; an app that needs each of them reads ``RTMClient/events(buffering:)``.
@MainActor public final class LinkModel: ViewModel {
    /// The state of the link.
    public private(set) var state: RTMLinkState
    /// The change that led to `state`; `nil` before the first one.
    public private(set) var lastChange: LinkStateEvent?
    private var reader: Task<Void, Never>?

    /// Follows the link of this client until the client is closed or released.
    public init(_ client: RTMClient) {
        // What changes behind this line comes as a change.
        let changes = client.hub.linkChanges()
        state = client.linkState
        super.init()
        // Unstructured: it ends with the client, and with this object.
        reader = Task { [weak self] in
            for await change in changes { self?.take(change) }
            self?.end()
        }
    }

    deinit { reader?.cancel() }

    /// Whether messages come and go at this moment.
    public var isConnected: Bool { state == .connected }

    /// Why the link is as it is, in words for a person. Empty before the first change.
    public var reason: String { lastChange?.reason ?? "" }

    private func take(_ change: LinkStateEvent) {
        self.change {
            state = change.currentState
            lastChange = change
        }
    }

    private func end() {
        guard state != .idle else { return }
        change { state = .idle }
    }
}

extension EventHub {
    /// The changes of the client's own link. One that isn't read gives way to the next.
    fileprivate func linkChanges() -> AsyncStream<LinkStateEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LinkStateEvent.self, bufferingPolicy: .bufferingNewest(1))
        let id = add(LinkChangeSink(continuation: continuation))
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }
}

private struct LinkChangeSink: EventSink {
    let continuation: AsyncStream<LinkStateEvent>.Continuation

    func append(_ event: RTMEvent) {
        guard case .linkState(let change) = event, change.serviceType == .message else { return }
        continuation.yield(change)
    }

    func finish() { continuation.finish() }
}
