// swift-format-ignore-file
//
// The samples of the reference's page on the storage API, as they stand there: each in a function whose
// parameters are the names that the sample takes for granted. That this file compiles is the test; its
// warnings (unused values) are the samples' own.

import AgoraRtmKit

func sample000SetChannelMetadata(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let channelName = "exampleChannel"
    let channelType: AgoraRtmChannelType = .message
    // Create metadata items
    let metadataItem1 = AgoraRtmMetadataItem(key: "topic", value: "discussion", revision: 174298200)
    let metadataItem2 = AgoraRtmMetadataItem(key: "status", value: "active", revision: 174298100)
    // Create metadata
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 174298270
    metadata.items = [metadataItem1, metadataItem2]
    // Set metadata options
    let metadataOptions = AgoraRtmMetadataOptions()
    metadataOptions.recordTs = true
    metadataOptions.recordUserId = true
    // Set channel metadata
    let (response, error) = await rtmClient.setChannelMetadata(
        channelName: channelName,
        channelType: channelType,
        data: metadata,
        options: metadataOptions,
        lock: nil // or provide a lock name
    )
    if let errorInfo = error {
        // Handle error
        print("Failed to set channel metadata with error: \(errorInfo.reason)")
    } else if let setMetadataResponse = response {
        // Handle success
        print("Channel metadata set successfully.")
    } else {
        // Handle unknown error
        print("Unknown error occurred while setting channel metadata.")
    }
}

func sample000SetChannelMetadataCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let channelName = "exampleChannel"
    let channelType: AgoraRtmChannelType = .message
    // Create metadata items
    let metadataItem1 = AgoraRtmMetadataItem(key: "topic", value: "discussion", revision: 174298200)
    let metadataItem2 = AgoraRtmMetadataItem(key: "status", value: "active", revision: 174298100)
    // Create metadata
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 174298270
    metadata.items = [metadataItem1, metadataItem2]
    // Set metadata options
    let metadataOptions = AgoraRtmMetadataOptions()
    metadataOptions.recordTs = true
    metadataOptions.recordUserId = true
    // Set channel metadata
    rtmClient.setChannelMetadata(
        channelName: channelName,
        channelType: channelType,
        data: metadata,
        options: metadataOptions,
        lock: nil, // or provide a lock name
        completion: { (response, error) in
            if let errorInfo = error {
                // Handle error
                print("Failed to set channel metadata with error: \(errorInfo.reason)")
            } else if let setMetadataResponse = response {
                // Handle success
                print("Channel metadata set successfully.")
            } else {
                // Handle unknown error
                print("Unknown error occurred while setting channel metadata.")
            }
        }
    )
}

func sample000GetChannelMetadata(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let channelName = "exampleChannel"
    let channelType: AgoraRtmChannelType = .message
    // Retrieve channel metadata
    let (response, error) = await rtmClient.getChannelMetadata(
        channelName: channelName,
        channelType: channelType
    )
    if let errorInfo = error {
        // Handle error
        print("Failed to get channel metadata with error: \(errorInfo.reason)")
    } else if let getMetadataResponse = response, let metadata = getMetadataResponse.data {
        // Handle success and access the metadata
        print("Retrieved channel metadata: \(metadata)")
        for item in metadata.items ?? [] {
            print("Key: \(item.key), Value: \(item.value), Last updated by: \(item.authorUserId)")
        }
    } else {
        // Handle unknown error
        print("Unknown error occurred while getting channel metadata.")
    }
}

func sample000GetChannelMetadataCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let channelName = "exampleChannel"
    let channelType: AgoraRtmChannelType = .message
    // Retrieve channel metadata
    rtmClient.getChannelMetadata(
        channelName: channelName,
        channelType: channelType,
        completion: { (response, error) in
            if let errorInfo = error {
                // Handle error
                print("Failed to get channel metadata with error: \(errorInfo.reason)")
            } else if let getMetadataResponse = response, let metadata = getMetadataResponse.data {
                // Handle success and access the metadata
                print("Retrieved channel metadata: \(metadata)")
                for item in metadata.items ?? [] {
                    print("Key: \(item.key), Value: \(item.value), Last updated by: \(item.authorUserId)")
                }
            } else {
                // Handle unknown error
                print("Unknown error occurred while getting channel metadata.")
            }
        }
    )
}

func sample000RemoveChannelMetadata(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let channelName = "exampleChannel"
    let channelType: AgoraRtmChannelType = .message
    // Create metadata items to remove
    let itemToRemove = AgoraRtmMetadataItem()
    itemToRemove.key = "topic"
    itemToRemove.revision = 174298200
    // Create metadata object
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 174298270
    metadata.items = [itemToRemove]
    // Call removeChannelMetadata with async/await
    let (response, error) = await rtmClient.removeChannelMetadata(
        channelName: channelName,
        channelType: channelType,
        data: metadata,
        options: nil,
        lock: nil
    )
    if let errorInfo = error {
        // Handle error
        print("Failed to remove metadata with error: \(errorInfo.reason)")
    } else if let removeMetadataResponse = response {
        // Handle success
        print("Metadata removed successfully.")
    } else {
        // Handle unknown error
        print("Unknown error occurred while removing metadata.")
    }
}

func sample000RemoveChannelMetadataCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let channelName = "exampleChannel"
    let channelType: AgoraRtmChannelType = .message
    // Create metadata items to remove
    let itemToRemove = AgoraRtmMetadataItem()
    itemToRemove.key = "topic"
    itemToRemove.revision = 174298200
    // Create metadata object
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 174298270
    metadata.items = [itemToRemove]
    // Call removeChannelMetadata with callback
    rtmClient.removeChannelMetadata(
        channelName: channelName,
        channelType: channelType,
        data: metadata,
        options: nil,
        lock: nil
    ) { (response, error) in
        if let errorInfo = error {
            // Handle error
            print("Failed to remove metadata with error: \(errorInfo.reason)")
        } else if let removeMetadataResponse = response {
            // Handle success
            print("Metadata removed successfully.")
        } else {
            // Handle unknown error
            print("Unknown error occurred while removing metadata.")
        }
    }
}

func sample000UpdateChannelMetadata(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let channelName = "exampleChannel"
    let channelType: AgoraRtmChannelType = .message
    // Create metadata items to update
    let metadataItem = AgoraRtmMetadataItem()
    metadataItem.key = "topic"
    metadataItem.value = "New Topic"
    metadataItem.revision = 174298200
    // Create metadata object
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 174298270
    metadata.items = [metadataItem]
    // Optional: Define metadata options if needed
    let metadataOptions = AgoraRtmMetadataOptions()
    metadataOptions.recordTs = true
    metadataOptions.recordUserId = true
    // Call updateChannelMetadata with async/await
    let (response, error) = await rtmClient.updateChannelMetadata(
        channelName: channelName,
        channelType: channelType,
        data: metadata,
        options: metadataOptions,
        lock: nil
    )
    if let errorInfo = error {
        // Handle error
        print("Failed to update metadata with error: \(errorInfo.reason)")
    } else if let updateMetadataResponse = response {
        // Handle success
        print("Metadata updated successfully.")
    } else {
        // Handle unknown error
        print("Unknown error occurred while updating metadata.")
    }
}

func sample000UpdateChannelMetadataCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let channelName = "exampleChannel"
    let channelType: AgoraRtmChannelType = .message
    // Create metadata items to update
    let metadataItem = AgoraRtmMetadataItem()
    metadataItem.key = "topic"
    metadataItem.value = "New Topic"
    metadataItem.revision = 174298200
    // Create metadata object
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 174298270
    metadata.items = [metadataItem]
    // Optional: Define metadata options if needed
    let metadataOptions = AgoraRtmMetadataOptions()
    metadataOptions.recordTs = true
    metadataOptions.recordUserId = true
    // Call updateChannelMetadata with completion block (callback)
    rtmClient.updateChannelMetadata(
        channelName: channelName,
        channelType: channelType,
        data: metadata,
        options: metadataOptions,
        lock: nil
    ) { (response, error) in
        if let errorInfo = error {
            // Handle error
            print("Failed to update metadata with error: \(errorInfo.reason)")
        } else if let updateMetadataResponse = response {
            // Handle success
            print("Metadata updated successfully.")
        } else {
            // Handle unknown error
            print("Unknown error occurred while updating metadata.")
        }
    }
}

func sample000SetUserMetadata(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let userId = "exampleUser"
    // Create metadata items to update
    let metadataItem = AgoraRtmMetadataItem()
    metadataItem.key = "status"
    metadataItem.value = "active"
    metadataItem.revision = 12345
    // Create metadata object
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 12346
    metadata.items = [metadataItem]
    // Optional: Define metadata options if needed
    let metadataOptions = AgoraRtmMetadataOptions()
    metadataOptions.recordTs = true
    metadataOptions.recordUserId = true
    // Call setUserMetadata with async/await
    let (response, error) = await rtmClient.setUserMetadata(
        userId: userId,
        data: metadata,
        options: metadataOptions
    )
    if let errorInfo = error {
        // Handle error
        print("Failed to set user metadata with error: \(errorInfo.reason)")
    } else if let setUserMetadataResponse = response {
        // Handle success
        print("User metadata set successfully.")
    } else {
        // Handle unknown error
        print("Unknown error occurred while setting user metadata.")
    }
}

func sample000SetUserMetadataCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let userId = "exampleUser"
    // Create metadata items to update
    let metadataItem = AgoraRtmMetadataItem()
    metadataItem.key = "status"
    metadataItem.value = "active"
    metadataItem.revision = 12345
    // Create metadata object
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 12346
    metadata.items = [metadataItem]
    // Optional: Define metadata options if needed
    let metadataOptions = AgoraRtmMetadataOptions()
    metadataOptions.recordTs = true
    metadataOptions.recordUserId = true
    // Call setUserMetadata with a callback
    rtmClient.setUserMetadata(
        userId: userId,
        data: metadata,
        options: metadataOptions
    ) { (response, error) in
        if let errorInfo = error {
            // Handle error
            print("Failed to set user metadata with error: \(errorInfo.reason)")
        } else if let setUserMetadataResponse = response {
            // Handle success
            print("User metadata set successfully.")
        } else {
            // Handle unknown error
            print("Unknown error occurred while setting user metadata.")
        }
    }
}

func sample000GetUserMetadata(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let userId = "exampleUser"
    // Call getUserMetadata with async/await
    let (response, error) = await rtmClient.getUserMetadata(userId: userId)
    if let errorInfo = error {
        // Handle error
        print("Failed to get user metadata with error: \(errorInfo.reason)")
    } else if let getUserMetadataResponse = response {
        // Handle success and access the metadata
        if let metadata = getUserMetadataResponse.data {
            print("User metadata retrieved successfully.")
            for item in metadata.items ?? [] {
                print("Key: \(item.key), Value: \(item.value), Author: \(item.authorUserId), Revision: \(item.revision)")
            }
        }
    } else {
        // Handle unknown error
        print("Unknown error occurred while getting user metadata.")
    }
}

func sample000GetUserMetadataCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let userId = "exampleUser"
    // Call getUserMetadata with a callback
    rtmClient.getUserMetadata(userId: userId) { (response, error) in
        if let errorInfo = error {
            // Handle error
            print("Failed to get user metadata with error: \(errorInfo.reason)")
        } else if let getUserMetadataResponse = response {
            // Handle success and access the metadata
            if let metadata = getUserMetadataResponse.data {
                print("User metadata retrieved successfully.")
                for item in metadata.items ?? [] {
                    print("Key: \(item.key), Value: \(item.value), Author: \(item.authorUserId), Revision: \(item.revision)")
                }
            }
        } else {
            // Handle unknown error
            print("Unknown error occurred while getting user metadata.")
        }
    }
}

func sample000RemoveUserMetadata(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let userId = "exampleUser"
    // Create metadata items to remove
    let metadataItem = AgoraRtmMetadataItem()
    metadataItem.key = "status"
    metadataItem.revision = 12345 // Make sure to provide the correct revision
    // Create metadata object
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 12346
    metadata.items = [metadataItem]
    // Call removeUserMetadata with async/await
    let (response, error) = await rtmClient.removeUserMetadata(
        userId: userId,
        data: metadata,
        options: nil
    )
    if let errorInfo = error {
        // Handle error
        print("Failed to remove user metadata with error: \(errorInfo.reason)")
    } else if let removeUserMetadataResponse = response {
        // Handle success
        print("User metadata removed successfully.")
    } else {
        // Handle unknown error
        print("Unknown error occurred while removing user metadata.")
    }
}

func sample000RemoveUserMetadataCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let userId = "exampleUser"
    // Create metadata items to remove
    let metadataItem = AgoraRtmMetadataItem()
    metadataItem.key = "status"
    metadataItem.revision = 12345 // Make sure to provide the correct revision
    // Create metadata object
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 12346
    metadata.items = [metadataItem]
    // Call removeUserMetadata with a callback
    rtmClient.removeUserMetadata(userId: userId, data: metadata, options: nil) { (response, error) in
        if let errorInfo = error {
            // Handle error
            print("Failed to remove user metadata with error: \(errorInfo.reason)")
        } else if let removeUserMetadataResponse = response {
            // Handle success
            print("User metadata removed successfully.")
        } else {
            // Handle unknown error
            print("Unknown error occurred while removing user metadata.")
        }
    }
}

func sample000UpdateUserMetadata(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let userId = "exampleUser"
    // Create metadata items to update
    let metadataItem = AgoraRtmMetadataItem()
    metadataItem.key = "status"
    metadataItem.value = "active" // Set the new value
    metadataItem.revision = 12345 // Provide the current revision
    // Create metadata object
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 12346
    metadata.items = [metadataItem]
    // Optional: Define metadata options if needed
    let metadataOptions = AgoraRtmMetadataOptions()
    metadataOptions.recordTs = true
    metadataOptions.recordUserId = true
    // Call updateUserMetadata with async/await
    let (response, error) = await rtmClient.updateUserMetadata(
        userId: userId,
        data: metadata,
        options: metadataOptions
    )
    if let errorInfo = error {
        // Handle error
        print("Failed to update user metadata with error: \(errorInfo.reason)")
    } else if let updateUserMetadataResponse = response {
        // Handle success
        print("User metadata updated successfully.")
    } else {
        // Handle unknown error
        print("Unknown error occurred while updating user metadata.")
    }
}

func sample000UpdateUserMetadataCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let userId = "exampleUser"
    // Create metadata items to update
    let metadataItem = AgoraRtmMetadataItem()
    metadataItem.key = "status"
    metadataItem.value = "active" // Set the new value
    metadataItem.revision = 12345 // Provide the current revision
    // Create metadata object
    let metadata = AgoraRtmMetadata()
    metadata.majorRevision = 12346
    metadata.items = [metadataItem]
    // Optional: Define metadata options if needed
    let metadataOptions = AgoraRtmMetadataOptions()
    metadataOptions.recordTs = true
    metadataOptions.recordUserId = true
    // Call updateUserMetadata with a callback
    rtmClient.updateUserMetadata(userId: userId, data: metadata, options: metadataOptions) { (response, error) in
        if let errorInfo = error {
            // Handle error
            print("Failed to update user metadata with error: \(errorInfo.reason)")
        } else if let updateUserMetadataResponse = response {
            // Handle success
            print("User metadata updated successfully.")
        } else {
            // Handle unknown error
            print("Unknown error occurred while updating user metadata.")
        }
    }
}

func sample000SubscribeUserMetadata(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let userId = "exampleUser"
    // Call subscribeUserMetadata with async/await
    let (response, error) = await rtmClient.subscribeUserMetadata(userId: userId)
    if let errorInfo = error {
        // Handle error
        print("Failed to subscribe to user metadata with error: \(errorInfo.reason)")
    } else if let subscribeResponse = response {
        // Handle success
        print("Successfully subscribed to user metadata.")
    } else {
        // Handle unknown error
        print("Unknown error occurred while subscribing to user metadata.")
    }
}

func sample000SubscribeUserMetadataCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let userId = "exampleUser"
    // Call subscribeUserMetadata with a callback
    rtmClient.subscribeUserMetadata(userId: userId) { (response, error) in
        if let errorInfo = error {
            // Handle error
            print("Failed to subscribe to user metadata with error: \(errorInfo.reason)")
        } else if let subscribeResponse = response {
            // Handle success
            print("Successfully subscribed to user metadata.")
        } else {
            // Handle unknown error
            print("Unknown error occurred while subscribing to user metadata.")
        }
    }
}

func sample000UnsubscribeUserMetadata(rtmClient: AgoraRtmClientKit) async {
    // async-await
    let userId = "exampleUser"
    // Call unsubscribeUserMetadata with async/await
    let (response, error) = await rtmClient.unsubscribeUserMetadata(userId: userId)
    if let errorInfo = error {
        // Handle error
        print("Failed to unsubscribe from user metadata with error: \(errorInfo.reason)")
    } else if let unsubscribeResponse = response {
        // Handle success
        print("Successfully unsubscribed from user metadata.")
    } else {
        // Handle unknown error
        print("Unknown error occurred while unsubscribing from user metadata.")
    }
}

func sample000UnsubscribeUserMetadataCallback(rtmClient: AgoraRtmClientKit) {
    // callback
    let userId = "exampleUser"
    // Call unsubscribeUserMetadata with a callback
    rtmClient.unsubscribeUserMetadata(userId: userId) { (response, error) in
        if let errorInfo = error {
            // Handle error
            print("Failed to unsubscribe from user metadata with error: \(errorInfo.reason)")
        } else if let unsubscribeResponse = response {
            // Handle success
            print("Successfully unsubscribed from user metadata.")
        } else {
            // Handle unknown error
            print("Unknown error occurred while unsubscribing from user metadata.")
        }
    }
}
