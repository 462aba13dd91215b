/// What asks the server to begin or end the delivery of a user's metadata.
enum UserMetadataRequest {
    case subscribe(Completion<Void>, userID: String)
    case unsubscribe(Completion<Void>, userID: String)
    /// The link's own, after a reconnect (S-19).
    case restore(SubscriptionTable.Restoration)
    /// The same later, as storage couldn't be reached; nothing waits for it.
    case restoreLate(SubscriptionTable.Restoration)

    var operation: Operation {
        switch self {
        case .subscribe, .restore, .restoreLate: .subscribeUserMetadata
        case .unsubscribe: .unsubscribeUserMetadata
        }
    }
}
