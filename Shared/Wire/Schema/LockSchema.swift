// Written by protocol/generate_fields.py from client/lock.proto: `make generate`.

extension Schema {
    /// rtm.client.LockDetail
    package enum LockDetail {
        package static var name: SchemaField<String> { SchemaField(1) }
        package static var owner: SchemaField<String> { SchemaField(2) }
        package static var ttlS: SchemaField<UInt32> { SchemaField(3) }
        package static var fencingToken: SchemaField<UInt64> { SchemaField(4) }
    }

    /// rtm.client.SetLock
    package enum SetLock {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
        package static var ttlS: SchemaField<UInt32> { SchemaField(4) }
    }

    /// rtm.client.RemoveLock
    package enum RemoveLock {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
    }

    /// rtm.client.AcquireLock
    package enum AcquireLock {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
        package static var retry: SchemaField<Bool> { SchemaField(4) }
        package static var heldToken: SchemaField<UInt64> { SchemaField(5) }
    }

    /// rtm.client.LockAcquired
    package enum LockAcquired {
        package static var fencingToken: SchemaField<UInt64> { SchemaField(1) }
    }

    /// rtm.client.ReleaseLock
    package enum ReleaseLock {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
        package static var withdraw: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.client.RevokeLock
    package enum RevokeLock {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var name: SchemaField<String> { SchemaField(3) }
        package static var owner: SchemaField<String> { SchemaField(4) }
    }

    /// rtm.client.GetLocks
    package enum GetLocks {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.client.Locks
    package enum Locks {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var revision: SchemaField<UInt64> { SchemaField(3) }
        package static var locks: SchemaField<[LockDetail]> { SchemaField(4) }
    }

    /// rtm.client.LockEvent
    package enum LockEvent {
        package static var type: SchemaField<Enumeration> { SchemaField(1) }
        package static var lock: SchemaField<LockDetail> { SchemaField(2) }
        package static var revision: SchemaField<UInt64> { SchemaField(3) }
    }
}
