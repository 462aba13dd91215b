package import RTMModel
package import RTMWire

/// A backend's message may depend on what is in its channel, and its answer says more than that of a client's
/// message. What clients publish pays nothing for that.
extension Broker {
    /// Publishes the message if all is as the condition says. A message that is in the log already was
    /// compared the first time.
    ///
    /// - Returns: the entries, if there are new ones, and the answer.
    package mutating func publish(
        _ request: PublishRequest, if condition: PublishCondition?, now: UInt64
    ) throws(RTMError) -> (response: BackendPublishResponse, appended: Appended?) {
        let channel = ChannelView(
            appID: request.appID, type: request.channelType ?? .none, name: request.channel)
        if isOtherContent(request, in: channel) {
            let newest = channels.newestMessage(of: channel)
            return (BackendPublishResponse(outcome: .otherContent, position: newest), nil)
        }
        let version = ChannelVersion(condition)
        if let condition, try !isRepeated(request, to: channel, now: now) {
            if let refusal = refusal(of: condition, version, at: channel) { return (refusal, nil) }
        }
        let appended = try publish(request, now: now)
        let isRepeated = appended.entries.count == 0
        if let version, !isRepeated, let slot = channels.slot(of: channel) {
            channels.setVersion(version, at: slot)
            if recorder.isKept { recorder.note(version.journaled(of: channel.key)) }
        }
        let isRemembered = request.origin.instance != 0
        let response = BackendPublishResponse(
            outcome: isRepeated ? .repeated : .published,
            position: StreamPosition(
                epoch: channels.newestMessage(of: channel).epoch, offset: appended.entries.offset),
            timestampMilliseconds: appended.entries.timestamp,
            rememberedMilliseconds: isRemembered
                ? channels.apps.window(of: request.appID.string, now: now) : 0,
            order: appended.entries.time.order)
        return (response, isRepeated ? nil : appended)
    }

    /// Whether the channel has a message of the same instance with another hash. One instance stands for one
    /// message, so that is another message under the same key (W-24).
    private func isOtherContent(_ request: PublishRequest, in channel: ChannelView) -> Bool {
        let origin = names.origin(request)
        guard origin.client != 0, let slot = channels.slot(of: channel),
            let published = channels[slot].chain.lastSequence(of: origin.client)
        else { return false }
        return published != origin.sequence
    }

    private func isRepeated(
        _ request: PublishRequest, to channel: ChannelView, now: UInt64
    ) throws(RTMError) -> Bool {
        guard let again = RepeatedPublish(request, names.origin(request), to: channel, now: now) else {
            return false
        }
        return try again.first(in: channels, knownSince: knownSince) != nil
    }

    private func refusal(
        of condition: PublishCondition, _ version: ChannelVersion?, at channel: ChannelView
    ) -> BackendPublishResponse? {
        let newest = channels.newestMessage(of: channel)
        if let expected = condition.newest, expected != newest {
            return BackendPublishResponse(outcome: .outdatedPosition, position: newest)
        }
        guard let version, let slot = channels.slot(of: channel), let last = channels.versions[slot],
            !version.follows(last)
        else { return nil }
        return BackendPublishResponse(
            outcome: .outdatedVersion, position: newest, version: last.number, versionEpoch: last.epoch)
    }
}
