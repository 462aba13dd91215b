"""What generate_wire.py can't read from the schema: the few names, types and codecs that don't follow its rules, and the
messages that Shared/Wire writes or reads by hand, each with the reason.

A message or a field that isn't named here follows the rules at the top of generate_wire.py."""

AROUND_BODY = "it is written and read around a body whose bytes are copied once"
CLIENT_REQUEST = "a client writes it; an edge reads it where it lies, as a case of ClientRequest"
CALL_TO_PRESENCE = "a client writes it; presence reads it where it lies, as a case of PresenceCall"
CALL_TO_STORAGE = "a client writes it; storage reads it as a part of StorageRequest, which has another shape"
MODEL = "the type belongs to Shared/Model, which knows nothing of the wire"
HOT = "it is on the path of a published message, and its scan is measured by `make bench WHAT=micro`"
RUN = "it is on the path of a published message, and its messages or events are passed on as one run of bytes"

HAND_WRITTEN = {
    "ClientFrame": CLIENT_REQUEST,
    "ServerFrame": "it is generic over its body, so that a frame is written without an object in between",
    "ServiceLinkFrame": AROUND_BODY,
    "ServiceLinkRequest": AROUND_BODY,
    "ServiceLinkResponse": AROUND_BODY,
    "ServiceLinkPush": AROUND_BODY,
    "Hello": CLIENT_REQUEST,
    "Login": CLIENT_REQUEST,
    "RenewToken": CLIENT_REQUEST,
    "Logout": CLIENT_REQUEST,
    "Heartbeat": CLIENT_REQUEST,
    "Subscribe": CLIENT_REQUEST,
    "Unsubscribe": CLIENT_REQUEST,
    "Publish": CLIENT_REQUEST,
    "SubscribeUserMetadata": CLIENT_REQUEST,
    "UnsubscribeUserMetadata": CLIENT_REQUEST,
    "WhoNow": CALL_TO_PRESENCE,
    "WhereNow": CALL_TO_PRESENCE,
    "SetState": CALL_TO_PRESENCE,
    "GetState": CALL_TO_PRESENCE,
    "RemoveState": CALL_TO_PRESENCE,
    "WriteMetadata": CALL_TO_STORAGE,
    "GetMetadata": CALL_TO_STORAGE,
    "SetLock": CALL_TO_STORAGE,
    "RemoveLock": CALL_TO_STORAGE,
    "AcquireLock": CALL_TO_STORAGE,
    "ReleaseLock": CALL_TO_STORAGE,
    "RevokeLock": CALL_TO_STORAGE,
    "GetLocks": CALL_TO_STORAGE,
    "ChannelKey": MODEL,
    "StreamPosition": MODEL,
    "Error": MODEL,
    "Limit": MODEL,
    "Conflict": MODEL,
    "Message": HOT,
    "Publication": HOT,
    "Published": HOT,
    "PublishRequest": RUN,
    "PublishResponse": HOT,
    "BackendPublishRequest": "it carries a PublishRequest, which is written and read by hand",
    "DeliveryPush": HOT,
    "AppendRequest": RUN,
    "AppendedEvent": RUN,
    "JournaledEntries": HOT,
    "JournalBatch": "its records are written and read one by one, and their order counts across its fields",
    "AttachRequest": "four of its fields exist only for an exclusive interest, so in Swift they follow from an optional",
    "AppendHistoryRequest": "it shares PublishOrigin and MessageView with PublishRequest",
    "PresenceEvent": "it is an enum in Swift, with one case for each kind of event",
}

# Messages that are read by a scan instead of the C codec.
#   text:    how a text is copied; `copiedName` refuses a NUL as well
#   unknown: what becomes of a field that this version doesn't know
LINK = {"text": "copiedIfValid", "unknown": "break"}
JOURNAL = {"text": "copiedName", "unknown": "throw .undecodable"}
STORAGE = {"text": "copiedName", "unknown": "break"}
SCANNED = {
    "ServiceLinkHello": LINK,
    "ServiceLinkChallenge": LINK,
    "ServiceLinkProof": LINK,
    "ServiceLinkWelcome": LINK,
    "ServiceLinkTrace": LINK,
    "ServiceLinkGoAway": LINK,
    # A reader of the journal must not pass over what it doesn't know: the records behind it may depend on that.
    "JournaledChannel": JOURNAL,
    "JournaledOwnership": JOURNAL,
    "JournaledHeads": JOURNAL,
    "JournaledHead": JOURNAL,
    "JournaledVersion": JOURNAL,
    "PublishCondition": STORAGE,
    "LockGrantedPush": STORAGE,
    "MetadataItem": STORAGE,
    "GetHistory": STORAGE,
}

# Messages that only travel within another one are not read on their own. These are both.
ALSO_READ_ALONE = {"Ban", "EdgeAnswer"}
# Messages with nothing in them that would have to be read.
NOT_READ = {"ServiceLinkHeartbeat", "ServiceLinkHeartbeatAck"}

# Field: its name in Swift, where it differs from the rule.
NAMES = {
    "Caller.session_id": "session",
    "LoggedIn.session_id": "session",
    "LoggedIn.subscriptions": "subscriptionCount",
    "LoggedIn.followed_users": "followedUserCount",
    "Subscribed.features_unavailable": "unavailable",
    "DetachPush.logged_out": "isLoggedOut",
    "JournaledChannel.timestamp_ms": "timestamp",
    "JournaledHeads.time_ms": "time",
    "JournaledOwnership.online": "isOnline",
    "JoinRequest.snapshot": "wantsSnapshot",
    "JoinResponse.too_big": "isTooBig",
    "JoinResponse.older": "isOlder",
    "JoinResponse.states_set": "hasSetStates",
    "Subscribed.states_set": "hasSetStates",
    "LeaseResponse.ttl_ms": "timeToLive",
    "LeaseResponse.known": "isKnown",
    "SyncRequest.first": "isFirst",
    "SyncRequest.last": "isLast",
    "BanReport.app_known": "isAppKnown",
    "BanOutcome.app_known": "isAppKnown",
    "BansResponse.more": "hasMore",
    "ListResponse.more": "hasMore",
    "EdgeFindings.more": "hasMore",
    "EdgeQuery.by_queue": "isByQueue",
    "EdgeTopFindings.busy": "isBusy",
    "ExplainedChannel.attached": "isAttached",
    "SessionFact.gap": "hasGap",
    "BackendPublishResponse.remembered_ms": "rememberedMilliseconds",
    "EdgeSession.channels": "channelCount",
    "EventsRequest.newest": "fromNewest",
    "EventsResponse.more": "hasMore",
    "ReaderKept.kept": "isKept",
    "ReaderMoved.found": "isFound",
    "ReadersResponse.more": "hasMore",
    "DeadLettersResponse.more": "hasMore",
    "AuditResponse.more": "hasMore",
    "StateChange.whole": "isWhole",
    "MetadataItem.update_ts_ms": "updatedMilliseconds",
    "HistoryPage.new_start_ms": "newStart",
    "GetHistory.start_ms": "start",
    "GetHistory.end_ms": "end",
    "LockEvent.type": "kind",
}

# Field: its type in Swift, where it differs from the rule.
TYPES = {
    "Caller.session_id": "SessionID",
    "LoggedIn.session_id": "SessionID",
    "LoggedIn.subscriptions": "Int",
    "LoggedIn.followed_users": "Int",
    "PublishRates.target_messages": "Int",
    "PublishRates.session_messages": "Int",
    "PublishRates.session_bytes": "Int",
    "PublishRates.topic_messages": "Int",
    "Welcome.frame_bytes_max": "Int",
    "Subscribed.features_unavailable": "SubscriptionFeatures",
    "SkipPush.features": "SubscriptionFeatures",
    "ReadRequest.features": "SubscriptionFeatures",
    "ExplainedEntry.feature": "SubscriptionFeatures",
    "ExplainedSession.features": "SubscriptionFeatures",
    "ServiceLinkHello.nonce": "[UInt8]",
    "ServiceLinkChallenge.nonce": "[UInt8]",
    "ServiceLinkProof.proof": "[UInt8]",
    "ServiceLinkWelcome.proof": "[UInt8]",
    "HistoryMessage.payload": "[UInt8]",
    "AppEvent.body": "[UInt8]",
    "ReaderClaimed.state": "[UInt8]",
    "DeadLetter.body": "[UInt8]",
    "KeepReader.state": "[UInt8]",
    "EventReader.state": "[UInt8]",
}

# Fields that may be absent. Without one of the other messages a message can't be read. For an enum: its number may be one
# that this version doesn't know.
OPTIONAL = {
    "PublishCondition.newest", "SessionPush.channel", "BanOutcome.before", "LockGrantedPush.error", "GetHistory.channel_type",
    "ExplainRequest.entry", "ExplainResponse.entry", "EdgeQuery.explain", "EdgeFindings.explanation", "EdgeExplain.channel",
    "EdgeExplanation.channel", "EdgeExplanation.publisher", "ExplainedSession.channel", "ExplainedChannel.position",
    "SessionFact.channel", "SessionFact.position", "SessionFact.after", "EdgeQuery.top", "EdgeFindings.top",
    "RefusedUser.channel",
}

# Fields whose values have no label in the initialiser. `channel` also stands for a pair of type and name.
UNLABELLED = {
    "ServiceLinkGoAway": {"reason", "text"},
    "Disconnect": {"code", "reason"},
    "ChannelEnded": {"channel", "error"},
    "Gap": {"channel", "position"},
    "Locks": {"channel"},
    "Metadata": {"channel"},
    "LockEvent": {"type", "lock"},
}

# Messages and enums whose type in Swift has another name than in the schema.
SWIFT_NAMES = {
    "Error": "RTMError",
    "Message": "MessageView",
    "Priority": "TopicPriority",
    "LockEventType": "LockEvent.Kind",
    "DisconnectCode": "Disconnect.Code",
    "ServiceLinkGoAwayReason": "ServiceLinkGoAway.Reason",
}
MODEL_TYPES = {"ChannelKey", "ChannelType", "RTMError", "SessionID", "StreamPosition", "SubscriptionFeatures", "TopicPriority"}

# Enums that are generated, and whether their value 0 is a case in Swift. Without it a 0 is as unknown as any other number.
ENUMS = {
    "SessionEnd": False,
    "SessionChange": False,
    "LockEventType": False,
    "AppEventType": False,
    "DisconnectCode": False,
    "ServiceLinkGoAwayReason": True,
    "MetadataWriteKind": True,
    "MessageType": True,
    "PublishOutcome": True,
    "EntryTrace": True,
    "SubscriptionStage": True,
    "SessionFactKind": False,
}
# An enum that has a case for what this version doesn't know.
UNKNOWN_CASE = {"ServiceLinkGoAway.Reason": ".unspecified"}
# Enums that number the methods of a service.
METHODS = {"MessagingMethod", "PresenceMethod", "StorageMethod"}
