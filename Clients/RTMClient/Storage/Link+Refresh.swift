import Logging
import RTMModel
import RTMProtocol

// After a gap: what events were lost is not known, but what they led to can be asked for. The answer is shown
// as a snapshot, so that an app that follows metadata or locks is never left with an old picture.
extension Link {
    func refresh(_ channel: String) {
        let features = subscriptions.features(of: channel)
        if features.contains(.metadata) { refresh(.metadata, of: .channel(channel)) }
        if features.contains(.lock) { refresh(.locks, of: .channel(channel)) }
    }

    func refresh(_ revisioned: SubscriptionTable.Revisioned, of target: MetadataTarget) {
        guard machine.state == .connected, !requests.isFull else { return }
        let id = requestIDs.next()
        let deadline = now + configuration.requestTimeout
        requests.add(id, .refresh, deadline: deadline)
        send(id) {
            switch revisioned {
            case .metadata:
                $0.getMetadata.channelType = Rtm_Client_ChannelType(target.channelType)
                $0.getMetadata.target = target.name
            case .locks:
                $0.getLocks.channelType = Rtm_Client_ChannelType(target.channelType)
                $0.getLocks.channel = target.name
            }
        }
        armTimer(by: deadline)
    }

    func refreshed(_ body: ServerBody) {
        switch body {
        case .metadata(let metadata): received(snapshot: metadata)
        case .locks(let locks): received(snapshot: locks)
        default: logger.debug("a snapshot after a gap could not be had")
        }
    }
}
