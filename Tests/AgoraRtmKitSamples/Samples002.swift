// swift-format-ignore-file
//
// The samples of the reference's page on presence. They stand there in Objective-C; here each is in Swift, in
// the form in which the vendor's import gives the same calls. That this file compiles is the test; its
// warnings (unused values) are the samples' own.

import AgoraRtmKit

func sample002WhoNow(rtm: AgoraRtmClientKit) {
    let presence_opt = AgoraRtmPresenceOptions()
    presence_opt.includeState = false
    presence_opt.includeUserId = false
    rtm.getPresence()?.whoNow(
        channelName: "your_channel", channelType: .message, options: presence_opt,
        completion: { (response, errorInfo) in
        if errorInfo == nil {
            print("whoNow success!!")
            let user_count = response?.totalOccupancy
        } else {
            print("whoNow failed, errorCode \(errorInfo!.errorCode), reason \(errorInfo!.reason)")
        }
    })
}

func sample002WhereNow(rtm: AgoraRtmClientKit) {
    rtm.getPresence()?.whereNow(userId: "userId", completion: { (response, errorInfo) in
        if errorInfo == nil {
            print("whereNow success!!")
            let channel_count = response?.totalChannel
            let channels: [AgoraRtmChannelInfo]? = response?.channels
        } else {
            print("whereNow failed, errorCode \(errorInfo!.errorCode), reason \(errorInfo!.reason)")
        }
    })
}

func sample002SetState(rtm: AgoraRtmClientKit) {
    let states = ["key1": "value1", "key2": "value2"]
    rtm.getPresence()?.setState(
        channelName: "your_channel", channelType: .message, items: states,
        completion: { (response, errorInfo) in
        if errorInfo == nil {
            print("setState success!!")
        } else {
            print("setState failed, errorCode \(errorInfo!.errorCode), reason \(errorInfo!.reason)")
        }
    })
}

func sample002GetState(rtm: AgoraRtmClientKit) {
    rtm.getPresence()?.getState(
        channelName: "your_channel", channelType: .message, userId: "userid",
        completion: { (response, errorInfo) in
        if errorInfo == nil {
            print("getState success!!")
            let state: AgoraRtmUserState? = response?.state
        } else {
            print("getState failed, errorCode \(errorInfo!.errorCode), reason \(errorInfo!.reason)")
        }
    })
}

func sample002RemoveState(rtm: AgoraRtmClientKit) {
    let keys = ["key1", "key2"]
    rtm.getPresence()?.removeState(
        channelName: "your_channel", channelType: .message, keys: keys, completion: { (response, errorInfo) in
        if errorInfo == nil {
            print("removeState success!!")
        } else {
            print("removeState failed, errorCode \(errorInfo!.errorCode), reason \(errorInfo!.reason)")
        }
    })
}

func sample002WhoNowAsync(rtm: AgoraRtmClientKit) async {
    if let (response, error) = await rtm.getPresence()?.whoNow(
        channelName: "your_channel", channelType: .message, options: nil) {
        if error == nil {
            for user in response!.userStateList { print("\(user.userId) \(user.states)") }
            print("next page: \(response!.nextPage ?? "none")")
        } else {
            print("whoNow failed, errorCode \(error!.errorCode), reason \(error!.reason)")
        }
    }
}

func sample002NewerNamesAsync(rtm: AgoraRtmClientKit) async {
    let options = AgoraRtmGetOnlineUsersOptions()
    options.includeState = true
    if let (response, error) = await rtm.getPresence()?.getOnlineUsers(
        channelName: "your_channel", channelType: .message, options: options) {
        print("getOnlineUsers: \(response?.totalOccupancy ?? 0), error \(error?.reason ?? "none")")
    }
    if let (response, error) = await rtm.getPresence()?.getOnlineUser(
        channelName: "your_channel", channelType: .message, options: options) {
        print("getOnlineUser: \(response?.totalOccupancy ?? 0), error \(error?.reason ?? "none")")
    }
    if let (response, error) = await rtm.getPresence()?.getUserChannels(userId: "userId") {
        print("getUserChannels: \(response?.totalChannel ?? 0), error \(error?.reason ?? "none")")
    }
}

func sample002StateAsync(rtm: AgoraRtmClientKit) async {
    if let (_, error) = await rtm.getPresence()?.setState(
        channelName: "your_channel", channelType: .message, items: ["key1": "value1"]) {
        print("setState: \(error?.reason ?? "success")")
    }
    if let (response, error) = await rtm.getPresence()?.getState(
        channelName: "your_channel", channelType: .message, userId: "userid") {
        print("getState: \(response?.state.states ?? [:]), \(error?.reason ?? "success")")
    }
    if let (_, error) = await rtm.getPresence()?.removeState(
        channelName: "your_channel", channelType: .message, keys: []) {
        print("removeState: \(error?.reason ?? "success")")
    }
}

func sample002Delegate(rtm: AgoraRtmClientKit) {
    class PresenceHandler: NSObject, AgoraRtmClientDelegate {
        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {
            switch event.type {
            case .snapshot: print("here: \(event.snapshot.map(\.userId))")
            case .remoteJoinChannel: print("\(event.publisher ?? "") joined \(event.channelName)")
            case .remoteStateChanged: print("\(event.publisher ?? ""): \(event.states)")
            case .interval: print("joined: \(event.interval?.joinUserList ?? [])")
            default: print("presence: \(event.type)")
            }
        }
    }
    let presenceDelegate = PresenceHandler()
    rtm.addDelegate(presenceDelegate)
}
