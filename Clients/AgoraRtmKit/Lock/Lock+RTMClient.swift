import RTMClient
import RTMModel

extension AgoraRtmLockDetail {
    convenience init(_ lock: LockDetail) {
        self.init()
        lockName = lock.name
        owner = lock.owner ?? ""
        ttl = Int32(clamping: lock.ttl.components.seconds)
        timestamp = lock.timestampMilliseconds
    }
}

extension AgoraRtmGetLocksResponse {
    convenience init(_ locks: [LockDetail]) {
        self.init()
        lockDetailList = locks.map(AgoraRtmLockDetail.init)
    }
}

extension AgoraRtmLockEvent {
    convenience init(_ event: LockEvent) {
        self.init()
        channelType = AgoraRtmChannelType(event.channelType)
        channelName = event.channelName
        eventType = AgoraRtmLockEventType(event.kind)
        lockDetailList = event.locks.map(AgoraRtmLockDetail.init)
        timestamp = event.timestampMilliseconds
    }
}

extension AgoraRtmLockEventType {
    fileprivate init(_ kind: LockEvent.Kind) {
        self =
            switch kind {
            case .snapshot: .snapshot
            case .set: .lockSet
            case .removed: .lockRemoved
            case .acquired: .lockAcquired
            case .released: .lockReleased
            case .expired: .lockExpired
            }
    }
}
