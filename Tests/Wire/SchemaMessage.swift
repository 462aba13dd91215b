import CProtobufC
import RTMProtocol
import RTMProtocolC
import SwiftProtobuf
import Testing

/// One message of the schema in both codecs.
struct SchemaMessage: Sendable, CustomTestStringConvertible {
    typealias Descriptor = UnsafePointer<ProtobufCMessageDescriptor>
    typealias Allocator = UnsafeMutablePointer<ProtobufCAllocator>

    let swift: any Message.Type
    private let unpack:
        @Sendable (Allocator?, UnsafeRawBufferPointer) -> UnsafeMutablePointer<ProtobufCMessage>?

    /// - Parameter unpack: the generated C function.
    init<C>(
        _ swift: any Message.Type,
        _ unpack: @escaping @Sendable (Allocator?, Int, UnsafePointer<UInt8>?) -> UnsafeMutablePointer<C>?
    ) {
        self.swift = swift
        self.unpack = { allocator, bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            // Every generated struct begins with its ProtobufCMessage.
            return UnsafeMutableRawPointer(unpack(allocator, bytes.count, start))?
                .assumingMemoryBound(to: ProtobufCMessage.self)
        }
    }

    var testDescription: String { swift.protoMessageName }

    /// The C codec's description of the message.
    func descriptor() throws -> Descriptor {
        let message = try #require(unpack(nil, UnsafeRawBufferPointer(start: nil, count: 0)))
        defer { protobuf_c_message_free_unpacked(message, nil) }
        return try #require(message.pointee.descriptor)
    }

    /// The bytes after the C codec unpacked and packed them again.
    func throughC(_ bytes: [UInt8], _ allocator: Allocator?) throws -> [UInt8] {
        let message = try #require(bytes.withUnsafeBytes { unpack(allocator, $0) })
        defer { protobuf_c_message_free_unpacked(message, allocator) }
        var packed = [UInt8](repeating: 0xAA, count: protobuf_c_message_get_packed_size(message))
        let written = protobuf_c_message_pack(message, &packed)
        #expect(written == packed.count)
        return packed
    }
}

extension SchemaMessage {
    /// `RoundTripTests` holds this list against the .proto files.
    static let all = client + service

    private static let client = [
        SchemaMessage(Rtm_Client_ClientFrame.self, rtm__client__client_frame__unpack),
        SchemaMessage(Rtm_Client_ServerFrame.self, rtm__client__server_frame__unpack),
        SchemaMessage(Rtm_Client_Hello.self, rtm__client__hello__unpack),
        SchemaMessage(Rtm_Client_Welcome.self, rtm__client__welcome__unpack),
        SchemaMessage(Rtm_Client_Login.self, rtm__client__login__unpack),
        SchemaMessage(Rtm_Client_LoggedIn.self, rtm__client__logged_in__unpack),
        SchemaMessage(Rtm_Client_PublishRates.self, rtm__client__publish_rates__unpack),
        SchemaMessage(Rtm_Client_RenewToken.self, rtm__client__renew_token__unpack),
        SchemaMessage(Rtm_Client_TokenRenewed.self, rtm__client__token_renewed__unpack),
        SchemaMessage(Rtm_Client_TokenWillExpire.self, rtm__client__token_will_expire__unpack),
        SchemaMessage(Rtm_Client_ChannelEnded.self, rtm__client__channel_ended__unpack),
        SchemaMessage(Rtm_Client_Logout.self, rtm__client__logout__unpack),
        SchemaMessage(Rtm_Client_LoggedOut.self, rtm__client__logged_out__unpack),
        SchemaMessage(Rtm_Client_Heartbeat.self, rtm__client__heartbeat__unpack),
        SchemaMessage(Rtm_Client_HeartbeatAck.self, rtm__client__heartbeat_ack__unpack),
        SchemaMessage(Rtm_Client_Disconnect.self, rtm__client__disconnect__unpack),
        SchemaMessage(Rtm_Client_StreamPosition.self, rtm__client__stream_position__unpack),
        SchemaMessage(Rtm_Client_Subscribe.self, rtm__client__subscribe__unpack),
        SchemaMessage(Rtm_Client_Subscribed.self, rtm__client__subscribed__unpack),
        SchemaMessage(Rtm_Client_Unsubscribe.self, rtm__client__unsubscribe__unpack),
        SchemaMessage(Rtm_Client_Unsubscribed.self, rtm__client__unsubscribed__unpack),
        SchemaMessage(Rtm_Client_Publish.self, rtm__client__publish__unpack),
        SchemaMessage(Rtm_Client_Published.self, rtm__client__published__unpack),
        SchemaMessage(Rtm_Client_Publication.self, rtm__client__publication__unpack),
        SchemaMessage(Rtm_Client_Message.self, rtm__client__message__unpack),
        SchemaMessage(Rtm_Client_Gap.self, rtm__client__gap__unpack),
        SchemaMessage(Rtm_Client_Limit.self, rtm__client__limit__unpack),
        SchemaMessage(Rtm_Client_Error.self, rtm__client__error__unpack),
        SchemaMessage(Rtm_Client_GetHistory.self, rtm__client__get_history__unpack),
        SchemaMessage(Rtm_Client_HistoryPage.self, rtm__client__history_page__unpack),
        SchemaMessage(Rtm_Client_HistoryMessage.self, rtm__client__history_message__unpack),
        SchemaMessage(Rtm_Client_LockDetail.self, rtm__client__lock_detail__unpack),
        SchemaMessage(Rtm_Client_SetLock.self, rtm__client__set_lock__unpack),
        SchemaMessage(Rtm_Client_RemoveLock.self, rtm__client__remove_lock__unpack),
        SchemaMessage(Rtm_Client_AcquireLock.self, rtm__client__acquire_lock__unpack),
        SchemaMessage(Rtm_Client_LockAcquired.self, rtm__client__lock_acquired__unpack),
        SchemaMessage(Rtm_Client_ReleaseLock.self, rtm__client__release_lock__unpack),
        SchemaMessage(Rtm_Client_RevokeLock.self, rtm__client__revoke_lock__unpack),
        SchemaMessage(Rtm_Client_GetLocks.self, rtm__client__get_locks__unpack),
        SchemaMessage(Rtm_Client_Locks.self, rtm__client__locks__unpack),
        SchemaMessage(Rtm_Client_LockEvent.self, rtm__client__lock_event__unpack),
        SchemaMessage(Rtm_Client_StateItem.self, rtm__client__state_item__unpack),
        SchemaMessage(Rtm_Client_UserState.self, rtm__client__user_state__unpack),
        SchemaMessage(Rtm_Client_WhoNow.self, rtm__client__who_now__unpack),
        SchemaMessage(Rtm_Client_OnlineUsers.self, rtm__client__online_users__unpack),
        SchemaMessage(Rtm_Client_WhereNow.self, rtm__client__where_now__unpack),
        SchemaMessage(Rtm_Client_UserChannels.self, rtm__client__user_channels__unpack),
        SchemaMessage(Rtm_Client_UserChannel.self, rtm__client__user_channel__unpack),
        SchemaMessage(Rtm_Client_SetState.self, rtm__client__set_state__unpack),
        SchemaMessage(Rtm_Client_GetState.self, rtm__client__get_state__unpack),
        SchemaMessage(Rtm_Client_RemoveState.self, rtm__client__remove_state__unpack),
        SchemaMessage(Rtm_Client_PresenceSnapshot.self, rtm__client__presence_snapshot__unpack),
        SchemaMessage(Rtm_Client_StateChange.self, rtm__client__state_change__unpack),
        SchemaMessage(Rtm_Client_PresenceEvent.self, rtm__client__presence_event__unpack),
        SchemaMessage(Rtm_Client_PresenceInterval.self, rtm__client__presence_interval__unpack),
        SchemaMessage(Rtm_Client_Done.self, rtm__client__done__unpack),
        SchemaMessage(Rtm_Client_MetadataItem.self, rtm__client__metadata_item__unpack),
        SchemaMessage(Rtm_Client_WriteMetadata.self, rtm__client__write_metadata__unpack),
        SchemaMessage(Rtm_Client_MetadataWritten.self, rtm__client__metadata_written__unpack),
        SchemaMessage(Rtm_Client_GetMetadata.self, rtm__client__get_metadata__unpack),
        SchemaMessage(Rtm_Client_Metadata.self, rtm__client__metadata__unpack),
        SchemaMessage(Rtm_Client_SubscribeUserMetadata.self, rtm__client__subscribe_user_metadata__unpack),
        SchemaMessage(Rtm_Client_UserMetadataSubscribed.self, rtm__client__user_metadata_subscribed__unpack),
        SchemaMessage(
            Rtm_Client_UnsubscribeUserMetadata.self, rtm__client__unsubscribe_user_metadata__unpack),
        SchemaMessage(Rtm_Client_StorageEvent.self, rtm__client__storage_event__unpack),
        SchemaMessage(Rtm_Client_Conflict.self, rtm__client__conflict__unpack),
    ]

    private static let service = [
        SchemaMessage(Rtm_Service_ServiceLinkFrame.self, rtm__service__service_link_frame__unpack),
        SchemaMessage(Rtm_Service_ServiceLinkHello.self, rtm__service__service_link_hello__unpack),
        SchemaMessage(
            Rtm_Service_ServiceLinkChallenge.self, rtm__service__service_link_challenge__unpack),
        SchemaMessage(Rtm_Service_ServiceLinkProof.self, rtm__service__service_link_proof__unpack),
        SchemaMessage(Rtm_Service_ServiceLinkWelcome.self, rtm__service__service_link_welcome__unpack),
        SchemaMessage(Rtm_Service_ServiceLinkRequest.self, rtm__service__service_link_request__unpack),
        SchemaMessage(Rtm_Service_ServiceLinkResponse.self, rtm__service__service_link_response__unpack),
        SchemaMessage(Rtm_Service_ServiceLinkPush.self, rtm__service__service_link_push__unpack),
        SchemaMessage(Rtm_Service_ServiceLinkHeartbeat.self, rtm__service__service_link_heartbeat__unpack),
        SchemaMessage(
            Rtm_Service_ServiceLinkHeartbeatAck.self, rtm__service__service_link_heartbeat_ack__unpack),
        SchemaMessage(Rtm_Service_ServiceLinkTrace.self, rtm__service__service_link_trace__unpack),
        SchemaMessage(Rtm_Service_ServiceLinkGoAway.self, rtm__service__service_link_go_away__unpack),
        SchemaMessage(Rtm_Service_ChannelKey.self, rtm__service__channel_key__unpack),
        SchemaMessage(Rtm_Service_AttachRequest.self, rtm__service__attach_request__unpack),
        SchemaMessage(Rtm_Service_AttachResponse.self, rtm__service__attach_response__unpack),
        SchemaMessage(Rtm_Service_SkipPush.self, rtm__service__skip_push__unpack),
        SchemaMessage(Rtm_Service_SupersededPush.self, rtm__service__superseded_push__unpack),
        SchemaMessage(Rtm_Service_DetachPush.self, rtm__service__detach_push__unpack),
        SchemaMessage(Rtm_Service_PublishRequest.self, rtm__service__publish_request__unpack),
        SchemaMessage(Rtm_Service_PublishResponse.self, rtm__service__publish_response__unpack),
        SchemaMessage(Rtm_Service_ReadRequest.self, rtm__service__read_request__unpack),
        SchemaMessage(Rtm_Service_ReadResponse.self, rtm__service__read_response__unpack),
        SchemaMessage(Rtm_Service_FeedPosition.self, rtm__service__feed_position__unpack),
        SchemaMessage(Rtm_Service_FeedRequest.self, rtm__service__feed_request__unpack),
        SchemaMessage(Rtm_Service_FeedResponse.self, rtm__service__feed_response__unpack),
        SchemaMessage(Rtm_Service_DeliveryPush.self, rtm__service__delivery_push__unpack),
        SchemaMessage(Rtm_Service_JoinRequest.self, rtm__service__join_request__unpack),
        SchemaMessage(Rtm_Service_AppendHistoryRequest.self, rtm__service__append_history_request__unpack),
        SchemaMessage(Rtm_Service_Caller.self, rtm__service__caller__unpack),
        SchemaMessage(Rtm_Service_CallRequest.self, rtm__service__call_request__unpack),
        SchemaMessage(Rtm_Service_CallResponse.self, rtm__service__call_response__unpack),
        SchemaMessage(Rtm_Service_AppendRequest.self, rtm__service__append_request__unpack),
        SchemaMessage(Rtm_Service_AppendedEvent.self, rtm__service__appended_event__unpack),
        SchemaMessage(Rtm_Service_LeaderPush.self, rtm__service__leader_push__unpack),
        SchemaMessage(Rtm_Service_NodesPush.self, rtm__service__nodes_push__unpack),
        SchemaMessage(Rtm_Service_EarlierTerm.self, rtm__service__earlier_term__unpack),
        SchemaMessage(Rtm_Service_NodeAddress.self, rtm__service__node_address__unpack),
        SchemaMessage(Rtm_Service_JournalBatch.self, rtm__service__journal_batch__unpack),
        SchemaMessage(Rtm_Service_JournaledEntries.self, rtm__service__journaled_entries__unpack),
        SchemaMessage(Rtm_Service_JournaledChannel.self, rtm__service__journaled_channel__unpack),
        SchemaMessage(Rtm_Service_JournaledOwnership.self, rtm__service__journaled_ownership__unpack),
        SchemaMessage(Rtm_Service_JournaledHeads.self, rtm__service__journaled_heads__unpack),
        SchemaMessage(Rtm_Service_JournaledHead.self, rtm__service__journaled_head__unpack),
        SchemaMessage(Rtm_Service_AppendResponse.self, rtm__service__append_response__unpack),
        SchemaMessage(Rtm_Service_JoinResponse.self, rtm__service__join_response__unpack),
        SchemaMessage(Rtm_Service_RosterRequest.self, rtm__service__roster_request__unpack),
        SchemaMessage(Rtm_Service_RosterResponse.self, rtm__service__roster_response__unpack),
        SchemaMessage(Rtm_Service_LeavePush.self, rtm__service__leave_push__unpack),
        SchemaMessage(Rtm_Service_SessionEndedPush.self, rtm__service__session_ended_push__unpack),
        SchemaMessage(Rtm_Service_LeaseRequest.self, rtm__service__lease_request__unpack),
        SchemaMessage(Rtm_Service_LeaseResponse.self, rtm__service__lease_response__unpack),
        SchemaMessage(Rtm_Service_SyncRequest.self, rtm__service__sync_request__unpack),
        SchemaMessage(Rtm_Service_SyncResponse.self, rtm__service__sync_response__unpack),
        SchemaMessage(Rtm_Service_OlderMembership.self, rtm__service__older_membership__unpack),
        SchemaMessage(Rtm_Service_Membership.self, rtm__service__membership__unpack),
        SchemaMessage(Rtm_Service_StorageCallResponse.self, rtm__service__storage_call_response__unpack),
        SchemaMessage(Rtm_Service_LockGrantedPush.self, rtm__service__lock_granted_push__unpack),
        SchemaMessage(Rtm_Service_SnapshotRequest.self, rtm__service__snapshot_request__unpack),
        SchemaMessage(Rtm_Service_SnapshotResponse.self, rtm__service__snapshot_response__unpack),
        SchemaMessage(Rtm_Service_SessionPush.self, rtm__service__session_push__unpack),
        SchemaMessage(Rtm_Service_Ban.self, rtm__service__ban__unpack),
        SchemaMessage(Rtm_Service_BanReport.self, rtm__service__ban_report__unpack),
        SchemaMessage(Rtm_Service_BanOutcome.self, rtm__service__ban_outcome__unpack),
        SchemaMessage(Rtm_Service_BansRequest.self, rtm__service__bans_request__unpack),
        SchemaMessage(Rtm_Service_BansResponse.self, rtm__service__bans_response__unpack),
        SchemaMessage(Rtm_Service_BackendPublishRequest.self, rtm__service__backend_publish_request__unpack),
        SchemaMessage(Rtm_Service_PublishCondition.self, rtm__service__publish_condition__unpack),
        SchemaMessage(
            Rtm_Service_BackendPublishResponse.self, rtm__service__backend_publish_response__unpack),
        SchemaMessage(Rtm_Service_ListRequest.self, rtm__service__list_request__unpack),
        SchemaMessage(Rtm_Service_ListResponse.self, rtm__service__list_response__unpack),
        SchemaMessage(Rtm_Service_ListedChannel.self, rtm__service__listed_channel__unpack),
        SchemaMessage(Rtm_Service_JournaledVersion.self, rtm__service__journaled_version__unpack),
        SchemaMessage(Rtm_Service_EdgeQuestion.self, rtm__service__edge_question__unpack),
        SchemaMessage(Rtm_Service_EdgeAnswer.self, rtm__service__edge_answer__unpack),
        SchemaMessage(Rtm_Service_EdgeAnswers.self, rtm__service__edge_answers__unpack),
        SchemaMessage(Rtm_Service_EdgeQuery.self, rtm__service__edge_query__unpack),
        SchemaMessage(Rtm_Service_EdgeFindings.self, rtm__service__edge_findings__unpack),
        SchemaMessage(Rtm_Service_SubscriberCount.self, rtm__service__subscriber_count__unpack),
        SchemaMessage(Rtm_Service_EdgeSession.self, rtm__service__edge_session__unpack),
        SchemaMessage(Rtm_Service_ExplainRequest.self, rtm__service__explain_request__unpack),
        SchemaMessage(Rtm_Service_ExplainResponse.self, rtm__service__explain_response__unpack),
        SchemaMessage(Rtm_Service_ExplainedEntry.self, rtm__service__explained_entry__unpack),
        SchemaMessage(Rtm_Service_ExplainedLink.self, rtm__service__explained_link__unpack),
        SchemaMessage(Rtm_Service_AuditLine.self, rtm__service__audit_line__unpack),
        SchemaMessage(Rtm_Service_KeepAudit.self, rtm__service__keep_audit__unpack),
        SchemaMessage(Rtm_Service_AuditRequest.self, rtm__service__audit_request__unpack),
        SchemaMessage(Rtm_Service_AuditResponse.self, rtm__service__audit_response__unpack),
        SchemaMessage(Rtm_Service_EdgeTop.self, rtm__service__edge_top__unpack),
        SchemaMessage(Rtm_Service_EdgeTopFindings.self, rtm__service__edge_top_findings__unpack),
        SchemaMessage(Rtm_Service_BusyChannel.self, rtm__service__busy_channel__unpack),
        SchemaMessage(Rtm_Service_LoudSession.self, rtm__service__loud_session__unpack),
        SchemaMessage(Rtm_Service_RefusedUser.self, rtm__service__refused_user__unpack),
        SchemaMessage(Rtm_Service_EdgeExplain.self, rtm__service__edge_explain__unpack),
        SchemaMessage(Rtm_Service_EdgeExplanation.self, rtm__service__edge_explanation__unpack),
        SchemaMessage(Rtm_Service_ExplainedSession.self, rtm__service__explained_session__unpack),
        SchemaMessage(Rtm_Service_ExplainedChannel.self, rtm__service__explained_channel__unpack),
        SchemaMessage(Rtm_Service_ExplainedPublisher.self, rtm__service__explained_publisher__unpack),
        SchemaMessage(Rtm_Service_SessionFact.self, rtm__service__session_fact__unpack),
        SchemaMessage(Rtm_Service_PurgeHistoryRequest.self, rtm__service__purge_history_request__unpack),
        SchemaMessage(Rtm_Service_PurgeHistoryResponse.self, rtm__service__purge_history_response__unpack),
        SchemaMessage(Rtm_Service_AppEvent.self, rtm__service__app_event__unpack),
        SchemaMessage(Rtm_Service_DeadLetter.self, rtm__service__dead_letter__unpack),
        SchemaMessage(Rtm_Service_DeadLetterNumber.self, rtm__service__dead_letter_number__unpack),
        SchemaMessage(Rtm_Service_EventReader.self, rtm__service__event_reader__unpack),
        SchemaMessage(Rtm_Service_EventGap.self, rtm__service__event_gap__unpack),
        SchemaMessage(Rtm_Service_EventsRequest.self, rtm__service__events_request__unpack),
        SchemaMessage(Rtm_Service_EventsResponse.self, rtm__service__events_response__unpack),
        SchemaMessage(Rtm_Service_ClaimReader.self, rtm__service__claim_reader__unpack),
        SchemaMessage(Rtm_Service_ReaderClaimed.self, rtm__service__reader_claimed__unpack),
        SchemaMessage(Rtm_Service_KeepReader.self, rtm__service__keep_reader__unpack),
        SchemaMessage(Rtm_Service_ReaderKept.self, rtm__service__reader_kept__unpack),
        SchemaMessage(Rtm_Service_MoveReader.self, rtm__service__move_reader__unpack),
        SchemaMessage(Rtm_Service_ReaderMoved.self, rtm__service__reader_moved__unpack),
        SchemaMessage(Rtm_Service_ReadersRequest.self, rtm__service__readers_request__unpack),
        SchemaMessage(Rtm_Service_ReadersResponse.self, rtm__service__readers_response__unpack),
        SchemaMessage(Rtm_Service_DeadLettersRequest.self, rtm__service__dead_letters_request__unpack),
        SchemaMessage(Rtm_Service_DeadLettersResponse.self, rtm__service__dead_letters_response__unpack),
    ]
}
