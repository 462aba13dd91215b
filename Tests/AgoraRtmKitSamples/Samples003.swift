// swift-format-ignore-file
//
// The samples of the reference's page on configuration, login and events, as they stand there: each in a
// function whose parameters are the names that the sample takes for granted. That this file compiles is the
// test; its warnings (unused values, a comparison with nil) are the samples' own.

import AgoraRtmKit

// The two callback samples of login and logout say `} else let response = response {`, which is no Swift:
// here it is `else if let`.

func sample003Configuration() {
    let config = AgoraRtmClientConfig(appId: "yourAppId", userId: "yourUserId")
    config.areaCode = [.CN, .NA]
    config.presenceTimeout = 30
    config.heartbeatInterval = 10
    config.useStringUserId = true
}

func sample003Create() {
    do {
        let config = AgoraRtmClientConfig(appId: "yourAppId", userId: "uniqueUserId")
        config.areaCode = [.CN, .NA]
        config.presenceTimeout = 30
        config.heartbeatInterval = 10
        config.useStringUserId = true
        // Initializing the RTM client
        let rtmClient = try AgoraRtmClientKit(config, delegate: nil)
        if rtmClient != nil {
            print("RTM Client initialized successfully!")
        }
    } catch let error {
        print("Failed to initialize RTM client. Error: \(error)")
    }
}

func sample003DelegateAtCreation(config: AgoraRtmClientConfig) throws {
    class EventHandler: NSObject, AgoraRtmClientDelegate {
        // message event handler
        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
            print("Message received from \(event.channelName): \(event.message)")
        }
        // presence event handler
        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {
            print("User \(event.publisher) is now \(event.type)")
        }
    }
    let eventDelegate = EventHandler()
    let rtmClient = try AgoraRtmClientKit(config, delegate: eventDelegate)
}

func sample003Delegates(rtmClient: AgoraRtmClientKit) {
    // message event handler
    class MessageHandler: NSObject, AgoraRtmClientDelegate {
        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
            print("Message received from \(event.channelName): \(event.message)")
        }
    }
    // presence event handler
    class PresenceHandler: NSObject, AgoraRtmClientDelegate {
        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {
            print("User \(event.publisher) is now \(event.type)")
        }
    }
    let messageDelegate = MessageHandler()
    let presenceDelegate = PresenceHandler()
    rtmClient.addDelegate(messageDelegate)
    rtmClient.addDelegate(presenceDelegate)

    rtmClient.removeDelegate(messageDelegate)
}

func sample003Login(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let (response, error) = await rtmClient.login("your_token_here")
    if let error = error {
        print("Login failed with error: \(error.reason)")
    } else if let response = response {
        print("Login successful!")
    } else {
        print("Unknown error")
    }
}

func sample003LoginCallback(rtmClient: AgoraRtmClientKit, token: String) {
    // callback
    rtmClient.login(token) { response, error in
        if let errorInfo = error {
            print("Login failed with error: \(errorInfo.reason)")
        } else if let loginResponse = response {
            print("Login successful: \(loginResponse)")
        }
    }
}

func sample003Logout(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let (response, error) = await rtmClient.logout()
    if let error = error {
        print("Logout failed with error: \(error.reason)")
    } else if let response = response {
        print("Logout successful!")
    } else {
        print("Unknown error")
    }
}

func sample003LogoutCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    rtmClient.logout { response, error in
        if let errorInfo = error {
            print("Logout failed with error: \(errorInfo.reason)")
        } else if let logoutResponse = response {
            print("Logout successful: \(logoutResponse)")
        }
    }
}

func sample003Destroy(rtmClient: AgoraRtmClientKit) {
    let errorCode = rtmClient.destroy()
    if errorCode == .ok {
        print("RTM instance destroyed successfully.")
    } else {
        print("Failed to destroy RTM instance: \(errorCode)")
    }
}

// The initializer with twelve labels that the page lists.
func sample003AllLabels() -> AgoraRtmClientConfig {
    AgoraRtmClientConfig(
        appId: "yourAppId",
        userId: "yourUserId",
        useStringUserId: true,
        multipath: false,
        presenceTimeout: 300,
        heartbeatInterval: 5,
        areaCode: .GLOB,
        proxyConfig: nil,
        protocolType: .tcpUdp,
        logConfig: nil,
        encryptionConfig: nil,
        privateConfig: nil
    )
}
