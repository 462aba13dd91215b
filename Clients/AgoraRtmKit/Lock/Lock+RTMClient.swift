import RTMClient
import RTMModel

extension AgoraRtmLockDetail {
    convenience init(_ lock: LockDetail, timestamp: UInt64 = 0) {
        self.init()
        lockName = lock.name
        owner = lock.owner ?? ""
        ttl = Int32(clamping: lock.ttl.components.seconds)
        self.timestamp = timestamp
    }
}

extension AgoraRtmGetLocksResponse {
    convenience init(_ locks: [LockDetail]) {
        self.init()
        lockDetailList = locks.map { AgoraRtmLockDetail($0) }
    }
}

extension AgoraRtmLockEvent {
    convenience init(_ event: LockEvent) {
        self.init()
        channelType = AgoraRtmChannelType(event.channelType)
        channelName = event.channelName
        eventType = AgoraRtmLockEventType(event.kind)
        lockDetailList = event.locks.map {
            AgoraRtmLockDetail($0, timestamp: event.timestampMilliseconds)
        }
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
