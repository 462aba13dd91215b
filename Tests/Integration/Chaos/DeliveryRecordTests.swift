import Testing

/// The judge of the chaos tests has to find the faults that it is made for.
struct DeliveryRecordTests {
    /// Alice publishes 1, 2, 3 to a channel. The arguments say what Bob and the witness saw.
    private func breaches(
        _ sightings: [DeliveryRecord.Sighting], witness: [DeliveryRecord.Sighting]? = nil,
        epochEnds: [UInt64] = [],
        isInformedOfGaps: Bool = true, third: DeliveryRecord.Outcome = .acknowledged(timestamp: 30)
    ) -> [String] {
        var record = DeliveryRecord(epochEnds: epochEnds)
        let outcomes: [DeliveryRecord.Outcome] = [
            .acknowledged(timestamp: 10), .acknowledged(timestamp: nil), third,
        ]
        for (number, outcome) in outcomes.enumerated() {
            record.published.append(
                .init(text: "alice \(number + 1)", publisher: "alice", channel: "c", outcome: outcome))
        }
        record.views = [
            .init(viewer: "bob", channel: "c", isInformedOfGaps: isInformedOfGaps, sightings: sightings),
            .init(viewer: "witness", channel: "c", sightings: witness ?? [seen(1), seen(2), seen(3)]),
        ]
        return record.breaches()
    }

    private func seen(_ number: Int, at timestamp: UInt64? = nil, by publisher: String = "alice")
        -> DeliveryRecord.Sighting
    {
        .message(
            text: "\(publisher) \(number)", publisher: publisher,
            timestamp: timestamp ?? UInt64(number) * 10)
    }

    @Test("The whole log in its order is no breach")
    func clean() {
        #expect(breaches([seen(1), seen(2), seen(3)]) == [])
    }

    @Test("A hole is one, in the middle and at the end, unless a gap was told there")
    func holes() {
        #expect(breaches([seen(1), seen(3)]).count == 1)
        #expect(breaches([seen(1), seen(2)]).count == 1)
        #expect(breaches([seen(1), .gap, seen(3)]) == [])
        #expect(breaches([.gap, seen(1), seen(3)]).count == 1)
        #expect(breaches([seen(1), seen(2), .gap]) == [])
    }

    @Test("Twice, out of order, its own, altered, at two places")
    func disorder() {
        #expect(breaches([seen(1), seen(1), seen(2), seen(3)]).count == 1)
        #expect(breaches([seen(1), seen(3), seen(2)]).count == 1)
        #expect(breaches([seen(1), seen(2, by: "bob"), seen(2, at: 21), seen(3)]).isEmpty == false)
        #expect(breaches([seen(1), seen(2, at: 25), seen(3)]).isEmpty == false)
        #expect(breaches([seen(1), seen(2, at: 10), seen(3)]).isEmpty == false)
    }

    @Test("An acknowledged message that nobody received, and a refused one that somebody did")
    func outcomes() {
        #expect(breaches([seen(1), seen(3)], witness: [seen(1), seen(3)]).count == 2)
        #expect(breaches([seen(1), seen(2), seen(3)], third: .refused).count == 1)
        #expect(breaches([seen(1), seen(2), seen(3)], third: .unknown) == [])
    }

    @Test("Who isn't told of gaps may miss what lies around the end of an epoch")
    func untold() {
        #expect(breaches([seen(1), seen(3)], isInformedOfGaps: false).count == 1)
        #expect(breaches([seen(1), seen(3)], epochEnds: [25], isInformedOfGaps: false) == [])
        #expect(breaches([seen(1), seen(3)], epochEnds: [35], isInformedOfGaps: false).count == 1)
    }

    @Test("Messages of one timestamp have an order, also for those who aren't told it")
    func order() {
        func seen(_ number: Int, _ order: UInt32?) -> DeliveryRecord.Sighting {
            .message(text: "alice \(number)", publisher: "alice", timestamp: 10, order: order)
        }
        let third = DeliveryRecord.Outcome.acknowledged(timestamp: 10)
        let witness = [seen(1, 0), seen(2, 1), seen(3, 2)]
        #expect(breaches(witness, witness: witness, third: third) == [])
        #expect(breaches([seen(1, nil), seen(2, nil), seen(3, nil)], witness: witness, third: third) == [])
        #expect(
            breaches([seen(1, nil), seen(3, nil), seen(2, nil)], witness: witness, third: third).count == 1)
        #expect(breaches([seen(1, nil), seen(3, nil)], witness: witness, third: third).count == 1)
    }

    @Test("What was under way when an epoch ended is in one of them, not in both")
    func bothEpochs() {
        let both = [seen(1), seen(2), .gap, seen(2, at: 25), seen(3)]
        #expect(!breaches(both, witness: both, epochEnds: [22]).isEmpty)
    }
}
