// swift-format-ignore-file
//
// The samples of the reference's page on messages and their history, as they stand there: each in a
// function whose parameters are the names that the sample takes for granted. That this file compiles is
// the test; its warnings (unused values, a comparison with nil) are the samples' own.

import AgoraRtmKit

func sample004PublishText(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let publishOptions = AgoraRtmPublishOptions()
    publishOptions.channelType = .message // 选择频道类型,Which channel type, .user or .message
    publishOptions.customType = "PlaintText" // 自定义类型为 "PlaintText"
    publishOptions.storeInHistory = YES
    let (response, error) = await rtmClient.publish(
        channelName: "exampleChannel",
        message: "Hello, Agora!",
        option: publishOptions)
    if let errorInfo = error {
        // 处理错误情况
        print("Failed to publish message with error: \(errorInfo.reason)")
    } else if let publishResponse = response {
        // 处理成功情况
        print("Message published successfully.")
    } else {
        // 处理未知错误
        print("Unknown error occurred while publishing the message.")
    }
}

func sample004PublishTextCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let publishOptions = AgoraRtmPublishOptions()
    publishOptions.channelType = .message // Set the channel type to .message
    publishOptions.customType = "PlainText" // Set a custom type to "PlainText"
    publishOptions.storeInHistory = YES
    rtmClient.publish(
        channelName: "exampleChannel",
        message: "Hello, Agora!",
        option: publishOptions
    ) { (response, error) in
        if let errorInfo = error {
            // Handle error
            print("Failed to publish message with error: \(errorInfo.reason)")
        } else if let publishResponse = response {
            // Handle success
            print("Message published successfully.")
        } else {
            // Handle unknown error
            print("Unknown error occurred while publishing the message.")
        }
    }
}

func sample004PublishBytes(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let publishOptions = AgoraRtmPublishOptions()
    publishOptions.channelType = .message // 选择频道类型,Which channel type, .user or .message
    publishOptions.customType = "BinaryData" // 自定义类型为 "BinaryData"
    publishOptions.storeInHistory = YES
    let byteArray: [UInt8] = [0x00, 0x01, 0x02, 0x03]
    let binaryData = Data(byteArray)
    let (response, error) = await rtmClient.publish(
        channelName: "exampleChannel",
        data: binaryData,
        option: publishOptions)
    if let errorInfo = error {
        // 处理错误情况
        print("Failed to publish message with error: \(errorInfo.reason)")
    } else if let publishResponse = response {
        // 处理成功情况
        print("Message published successfully.")
    } else {
        // 处理未知错误
        print("Unknown error occurred while publishing the message.")
    }
}

func sample004PublishBytesCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let publishOptions = AgoraRtmPublishOptions()
    publishOptions.channelType = .message // Set the channel type to .message
    publishOptions.customType = "BinaryData" // Set a custom type to "BinaryData"
    publishOptions.storeInHistory = YES
    let byteArray: [UInt8] = [0x00, 0x01, 0x02, 0x03]
    let binaryData = Data(byteArray)
    rtmClient.publish(
        channelName: "exampleChannel",
        data: binaryData,
        option: publishOptions
    ) { (response, error) in
        if let errorInfo = error {
            // Handle error
            print("Failed to publish message with error: \(errorInfo.reason)")
        } else if let publishResponse = response {
            // Handle success
            print("Message published successfully.")
        } else {
            // Handle unknown error
            print("Unknown error occurred while publishing the message.")
        }
    }
}

func sample004PublishToUser(rtmClient: AgoraRtmClientKit) async {
    let publishOptions = AgoraRtmPublishOptions()
    // 设置频道类型
    publishOptions.channelType = .user
    // 自定义类型为 "PlaintText"
    publishOptions.customType = "PlaintText"
    publishOptions.storeInHistory = YES
    let (response, error) = await rtmClient.publish(
        channelName: "exampleChannel",
        message: "Hello, Agora!",
        option: publishOptions)
    if let errorInfo = error {
        // 处理错误情况
        print("Failed to publish message with error: \(errorInfo.reason)")
    } else if let publishResponse = response {
        // 处理成功情况
        print("Message published successfully.")
    } else {
        // 处理未知错误
        print("Unknown error occurred while publishing the message.")
    }
}

func sample004PublishToUserCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let publishOptions = AgoraRtmPublishOptions()
    // 设置频道类型
    publishOptions.channelType = .user
    // 自定义类型为 "PlaintText"
    publishOptions.customType = "PlainText"
    publishOptions.storeInHistory = YES
    rtmClient.publish(
        channelName: "exampleChannel",
        message: "Hello, Agora!",
        option: publishOptions
    ) { (response, error) in
        if let errorInfo = error {
            // 处理错误情况
            print("Failed to publish message with error: \(errorInfo.reason)")
        } else if let publishResponse = response {
            // 处理成功情况
            print("Message published successfully.")
        } else {
            // 处理未知错误
            print("Unknown error occurred while publishing the message.")
        }
    }
}

func sample004Delegate(rtmClient: AgoraRtmClientKit) {
    // message event handler
    class MessageHandler: NSObject, AgoraRtmClientDelegate {
        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
            print("Message received from \(event.channelName): \(event.message)")
        }
    }
    let messageDelegate = MessageHandler()
    rtmClient.addDelegate(messageDelegate)
}

// The asynchronous sample of getMessages takes apart the result of `getHistory()?.getMessages`, an optional
// tuple, which is no Swift: here it is `getHistory()!`.

func sample004GetMessages(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let options = AgoraRtmGetHistoryMessagesOptions()
    options.messageCount = 10
    let (response, error) = await rtmClient.getHistory()!.getMessages(
        channelName: "channel",
        channelType: .message,
        options: options)
    if let errorInfo = error {
        // 处理错误情况
        print("Failed to get history message with error: \(errorInfo.reason)")
    } else if let response = response {
        // 处理历史消息
        let messageList = response.messageList
    } else {
        // 处理未知错误
        print("Unknown error occurred while get history message the message.")
    }
}

func sample004GetMessagesCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let options = AgoraRtmGetHistoryMessagesOptions()
    options.messageCount = 10
    rtmClient.getHistory()?.getMessages(channelName: "channel", channelType: .message, options: options) { (response, errorInfo) in
        if let errorInfo = errorInfo {
            print("获取历史消息失败,错误代码: \(errorInfo.errorCode),原因: \(errorInfo.reason)")
        } else if let response = response {
            // 处理历史消息
            let messageList = response.messageList
        }
    }
}
