// What `--json` writes about events, results and errors, with the field names of the public API.

import Foundation
import RTMClient

extension RTMEvent {
    var json: JSON {
        switch self {
        case .message(let message): message.json
        case .metadata(let event): event.json
        case .lock(let event): event.json
        case .linkState(let change): change.json
        case .tokenWillExpire(let notice):
            notice.json
        case .gap(let gap): gap.json
        case .presence(let presence): presence.json
        case .topic(let event): event.json
        case .streamChannelEnded(let event): event.json
        case .outbox(let event): event.json
        case .undecryptable(let event): event.json
        case .overflow(let dropped): ["event": "overflow", "dropped": .number(dropped)]
        }
    }
}

extension MessageEvent {
    fileprivate var json: JSON {
        let content: JSON.Field =
            switch payload {
            case .text(let text): .init(name: "message", value: .string(text))
            case .data(let data): .init(name: "data", value: .string(data.base64EncodedString()))
            }
        let place: [JSON.Field] = topic.isEmpty ? [] : [.init(name: "channelTopic", value: .string(topic))]
        // The place among the channel's messages with the same timestamp.
        let order: [JSON.Field] = order == 0 ? [] : [.init(name: "order", value: .number(UInt64(order)))]
        return .object(
            [
                .init(name: "event", value: "message"),
                .init(name: "channelType", value: .string("\(channelType)")),
                .init(name: "channelName", value: .string(channelName)),
            ] + place + [
                .init(name: "publisher", value: .string(publisher)),
                content,
                .init(name: "customType", value: .string(customType)),
                .init(name: "timestamp", value: .number(timestampMilliseconds)),
            ] + order + [.init(name: "time", value: .time(timestampMilliseconds))])
    }
}

extension TopicEvent {
    fileprivate var json: JSON {
        let (type, topics): (String, [Topic]) =
            switch change {
            case .snapshot(let topics): ("snapshot", topics)
            case .joined(let topic, let publisher):
                ("remoteJoinTopic", [Topic(name: topic, publishers: [publisher])])
            case .left(let topic, let publisher):
                ("remoteLeaveTopic", [Topic(name: topic, publishers: [publisher])])
            }
        return [
            "event": "topic",
            "type": .string(type),
            "channelName": .string(channelName),
            "publisher": .string(publisher ?? ""),
            "topicInfos": .array(topics.map(\.json)),
            "timestamp": .number(timestampMilliseconds), "time": .time(timestampMilliseconds),
        ]
    }
}

extension Topic {
    fileprivate var json: JSON {
        [
            "topic": .string(name),
            "publishers": .array(
                publishers.map {
                    ["publisherUserId": .string($0.userID), "publisherMeta": .string($0.meta)]
                }),
        ]
    }
}

extension StreamChannelEndedEvent {
    fileprivate var json: JSON {
        [
            "event": "streamChannelEnded", "channelName": .string(channelName),
            "code": .number(error.code.rawValue), "reason": .string(error.reason),
        ]
    }
}

extension TokenWillExpireEvent {
    fileprivate var json: JSON {
        let place = channelName.map { [JSON.Field(name: "channelName", value: .string($0))] } ?? []
        return .object(
            [.init(name: "event", value: "tokenWillExpire")] + place + [
                .init(
                    name: "remainingMilliseconds", value: .number(remaining.milliseconds, decimals: 0))
            ])
    }
}

extension OutboxEvent {
    fileprivate var json: JSON {
        let (name, reason) =
            switch outcome {
            case .published: ("published", "")
            case .refused(let error): ("refused", error.reason)
            case .unknown(let error): ("unknown", error.reason)
            }
        return [
            "event": "outbox",
            "sequence": .number(message.id.sequence),
            "outcome": .string(name),
            "reason": .string(reason),
        ]
    }
}

extension UndecryptableEvent {
    fileprivate var json: JSON {
        [
            "event": "undecryptable",
            "content": .string("\(content)"),
            "channelType": .string("\(channelType)"),
            "channelName": .string(channelName),
            "publisher": .string(publisher ?? ""),
            "reason": .string("\(failure.reason)"),
            "key": .string(failure.keyID?.description ?? ""),
            "count": .number(count),
        ]
    }
}

extension MetadataEvent {
    fileprivate var json: JSON {
        let (storageType, channelType, name): (String, ChannelType, String) =
            switch target {
            case .channel(let name, let type): ("channel", type, name)
            case .user(let id): ("user", .none, id)
            }
        return [
            "event": "storage",
            "eventType": .string("\(kind)"),
            "storageType": .string(storageType),
            "channelType": .string("\(channelType)"),
            "target": .string(name),
            "data": metadata.json,
            "publisher": .string(author ?? ""),
            "timestamp": .number(timestampMilliseconds), "time": .time(timestampMilliseconds),
        ]
    }
}

extension LockEvent {
    fileprivate var json: JSON {
        [
            "event": "lock",
            "eventType": .string("\(kind)"),
            "channelType": .string("\(channelType)"),
            "channelName": .string(channelName),
            "lockDetailList": .array(locks.map(\.json)),
            "timestamp": .number(timestampMilliseconds), "time": .time(timestampMilliseconds),
        ]
    }
}

extension LinkStateEvent {
    fileprivate var json: JSON {
        [
            "event": "linkState",
            "currentState": .string("\(currentState)"),
            "previousState": .string("\(previousState)"),
            "serviceType": .string("\(serviceType)"),
            "operation": .string("\(operation)"),
            "reasonCode": .string("\(reasonCode)"),
            "reason": .string(reason),
            "affectedChannels": .strings(affectedChannels),
            "unrestoredChannels": .strings(unrestoredChannels),
            "forbiddenChannels": .strings(forbiddenChannels),
            "unrestoredUsers": .strings(unrestoredUsers),
            "isResumed": JSON(booleanLiteral: isResumed),
            "timestamp": .number(timestampMilliseconds), "time": .time(timestampMilliseconds),
        ]
    }
}

extension GapEvent {
    fileprivate var json: JSON {
        [
            "event": "gap",
            "channelType": .string("\(channelType)"),
            "channelName": .string(channelName),
            "lastSeen": lastSeen.map(\.json) ?? .null,
            "continuesAfter": continuesAfter.json,
        ]
    }
}

extension StreamPosition {
    /// An epoch is a random number, and most readers of JSON round integers beyond 2^53.
    fileprivate var json: JSON { ["epoch": .string("\(epoch)"), "offset": .number(offset)] }
}

extension RTMError {
    var json: JSON {
        var fields: [JSON.Field] = [
            .init(name: "code", value: .number(code.rawValue)),
            .init(name: "name", value: .string("\(code)")),
            .init(name: "operation", value: .string(operation)),
            .init(name: "reason", value: .string(reason)),
        ]
        if let limit { fields.append(.init(name: "limit", value: limit.json)) }
        if let retryAfter {
            // The time is rounded up, because coming back too early would be refused again.
            let milliseconds = Int64((retryAfter / .milliseconds(1)).rounded(.up))
            fields.append(.init(name: "retryAfterMilliseconds", value: .number(milliseconds)))
        }
        if let conflict { fields.append(.init(name: "conflict", value: conflict.json)) }
        return ["error": .object(fields)]
    }
}

extension RTMError.Limit {
    fileprivate var json: JSON { ["name": .string(name), "value": .number(value)] }
}

extension RTMError.Conflict {
    fileprivate var json: JSON {
        [
            "majorRevision": .number(majorRevision), "key": key.map(JSON.string) ?? .null,
            "revision": .number(revision),
        ]
    }
}
