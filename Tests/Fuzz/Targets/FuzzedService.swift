import RTMWire

/// The messages of presence and storage: what edges send them, and what they answer.
enum FuzzedService {
    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        try presence(bytes)
        try storage(bytes)
        try RoundTrip.unpacked(CallRequest.self, bytes)
        try RoundTrip.unpacked(CallResponse.self, bytes)
    }

    private static func presence(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        try RoundTrip.unpacked(JoinRequest.self, bytes)
        try RoundTrip.unpacked(JoinResponse.self, bytes)
        try RoundTrip.unpacked(RosterRequest.self, bytes)
        try RoundTrip.unpacked(RosterResponse.self, bytes)
        try RoundTrip.unpacked(LeavePush.self, bytes)
        try RoundTrip.unpacked(SessionEndedPush.self, bytes)
        try RoundTrip.unpacked(LeaseRequest.self, bytes)
        try RoundTrip.unpacked(LeaseResponse.self, bytes)
        try RoundTrip.unpacked(SyncRequest.self, bytes)
        try RoundTrip.unpacked(SyncResponse.self, bytes)
    }

    private static func storage(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        try RoundTrip.unpacked(AppendHistoryRequest.self, bytes)
        try RoundTrip.unpacked(StorageCallResponse.self, bytes)
        try RoundTrip.scanned(LockGrantedPush.self, bytes)
        try RoundTrip.unpacked(SnapshotRequest.self, bytes)
        try RoundTrip.unpacked(SnapshotResponse.self, bytes)
        try RoundTrip.unpacked(SessionPush.self, bytes)
        try RoundTrip.unpacked(Ban.self, bytes)
        try RoundTrip.unpacked(BanReport.self, bytes)
        try RoundTrip.unpacked(BanOutcome.self, bytes)
        try RoundTrip.unpacked(BansRequest.self, bytes)
        try RoundTrip.unpacked(BansResponse.self, bytes)
        try RoundTrip.unpacked(EdgeQuestion.self, bytes)
        try RoundTrip.unpacked(EdgeAnswer.self, bytes)
        try RoundTrip.unpacked(EdgeAnswers.self, bytes)
        try RoundTrip.unpacked(EdgeQuery.self, bytes)
        try RoundTrip.unpacked(EdgeFindings.self, bytes)
        try RoundTrip.unpacked(PurgeHistoryRequest.self, bytes)
        try RoundTrip.unpacked(PurgeHistoryResponse.self, bytes)
        try RoundTrip.unpacked(EventGap.self, bytes)
        try RoundTrip.unpacked(EventsRequest.self, bytes)
        try RoundTrip.unpacked(EventsResponse.self, bytes)
        try RoundTrip.unpacked(ClaimReader.self, bytes)
        try RoundTrip.unpacked(ReaderClaimed.self, bytes)
        try RoundTrip.unpacked(KeepReader.self, bytes)
        try RoundTrip.unpacked(ReaderKept.self, bytes)
        try RoundTrip.unpacked(MoveReader.self, bytes)
        try RoundTrip.unpacked(ReaderMoved.self, bytes)
        try RoundTrip.unpacked(ReadersRequest.self, bytes)
        try RoundTrip.unpacked(ReadersResponse.self, bytes)
        try RoundTrip.unpacked(DeadLettersRequest.self, bytes)
        try RoundTrip.unpacked(KeepAudit.self, bytes)
        try RoundTrip.unpacked(AuditRequest.self, bytes)
        try RoundTrip.unpacked(AuditResponse.self, bytes)
        try RoundTrip.unpacked(DeadLettersResponse.self, bytes)
    }
}
