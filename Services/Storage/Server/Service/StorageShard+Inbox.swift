import Logging
import RTMModel
import RTMServiceKit

extension StorageShard {
    /// Counts what was taken out of the inbox. Of a page of refused messages one is named, because whoever
    /// publishes to a wrong app mostly does it again and again.
    func report(_ inbox: InboxOutcome) {
        metrics.inboxPublished.increment(by: inbox.published)
        metrics.historyStored.increment(by: inbox.stored)
        metrics.inboxNotStored.increment(by: inbox.notStored)
        metrics.inboxRefused.increment(by: inbox.refused.count)
        guard let first = inbox.refused.first else { return }
        logger.warning(
            "messages from SQL are refused",
            metadata: [
                "count": .stringConvertible(inbox.refused.count), "id": .stringConvertible(first.id),
                "app": "\(first.channel.appID)", "channel": "\(first.channel.name)",
                "reason": "\(first.error.reason)",
            ])
    }
}
