import NIOCore
import RTMMessagingClient
import RTMPresenceClient
import RTMServiceLink
import RTMStorageClient
import RTMWire

/// What the other services tell a loop, and whether they are there. The edge takes clients while messaging
/// can be reached; without presence or storage it serves what doesn't need them, and says what it can't.
extension EdgeLoop: MessagingCaller, PresenceCaller, StorageCaller {
    func messagingIsUp() {
        reachability.changed(.messaging, isUp: true)
        reattach(limit: configuration.limits.reattachBatch)
    }

    func messagingIsDown(_ reason: ServiceLinkDownReason) {
        reachability.changed(.messaging, isUp: false)
        index.linkLost()
    }

    func messagingDelivered(_ delivery: DeliveryPush) { gather(delivery) }

    func presenceIsUp() {
        reachability.changed(.presence, isUp: true)
        lease.linkUp()
        tellPresenceAgain()
        renewLease()
    }

    func presenceIsDown(_ reason: ServiceLinkDownReason) {
        reachability.changed(.presence, isUp: false)
        leaseTimer?.cancel()
        lease.linkDown()
    }

    func storageIsUp() {
        reachability.changed(.storage, isUp: true)
        tellLocksAgain()
    }

    func storageIsDown(_ reason: ServiceLinkDownReason) {
        reachability.changed(.storage, isUp: false)
        endLockWaits()
    }
}
