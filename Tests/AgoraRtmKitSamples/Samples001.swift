// swift-format-ignore-file
//
// The samples of the reference's guide to channel metadata, as they stand there: each in a function whose
// parameter is the name that the sample takes for granted. That this file compiles is the test; its warnings
// (unused values) are the samples' own.
//
// Two are not as they stand there. The sample of getChannelMetadata has two commas behind the channel's name,
// which is no Swift: here it has one. The removal of a whole set is shown in Objective-C only: here it is
// written in Swift.

import AgoraRtmKit

func sample001SetChannelMetadata(rtm: AgoraRtmClientKit) {
    // 获取元数据
    let metadata = AgoraRtmMetadata()!
    // 设置元数据项
    let properties = AgoraRtmMetadataItem()
    properties.key = "Quantity"
    properties.value = "20"
    let announcement = AgoraRtmMetadataItem()
    announcement.key = "Announcement"
    announcement.value = "Welcome to our shop!"
    let price = AgoraRtmMetadataItem()
    price.key = "T-shirt"
    price.value = "100"
    // 创建元数据项数组
    let itemArray = [properties, announcement, price]
    metadata.items = itemArray
    let metadataOpt = AgoraRtmMetadataOptions()
    metadataOpt.recordUserId = true
    metadataOpt.recordTs = true
    rtm.getStorage()?.setChannelMetadata(channelName: "channel1", channelType: .message, data: metadata, options: metadataOpt, lock: nil) { response, errorInfo in
        if errorInfo == nil {
            print("setChannelMetadata success!!")
        } else {
            if let errorCode = errorInfo?.errorCode, let reason = errorInfo?.reason {
                print("setChannelMetadata failed, errorCode: \(errorCode), reason: \(reason)")
            }
        }
    }
}

func sample001GetChannelMetadata(rtm: AgoraRtmClientKit) {
    rtm.getStorage()?.getChannelMetadata(channelName: "channel1", channelType: .message) { response, errorInfo in
        if errorInfo == nil {
            print("getChannelMetadata success!!")
            if let data = response?.data {
            }
        } else {
            if let errorCode = errorInfo?.errorCode, let reason = errorInfo?.reason {
                print("getChannelMetadata failed, errorCode: \(errorCode), reason: \(reason)")
            }
        }
    }
}

func sample001UpdateChannelMetadata(rtm: AgoraRtmClientKit) {
    // 获取元数据
    let metadata = AgoraRtmMetadata()!
    // 设置元数据项
    let price = AgoraRtmMetadataItem()
    price.key = "T-shirt"
    price.value = "299"
    // 创建元数据项数组
    let itemArray = [price]
    metadata.items = itemArray
    let metadataOpt = AgoraRtmMetadataOptions()
    metadataOpt.recordUserId = true
    metadataOpt.recordTs = true
    // 更新频道元数据
    rtm.getStorage()?.updateChannelMetadata(channelName: "channel1", channelType: .message, data: metadata, options: metadataOpt, lock: nil) { response, errorInfo in
        if errorInfo == nil {
            print("updateChannelMetadata success!!")
        } else {
            if let errorCode = errorInfo?.errorCode, let reason = errorInfo?.reason {
                print("updateChannelMetadata failed, errorCode: \(errorCode), reason: \(reason)")
            }
        }
    }
}

func sample001RemoveChannelMetadata(rtm: AgoraRtmClientKit) {
    let metadata = AgoraRtmMetadata()!
    let announcement = AgoraRtmMetadataItem()
    announcement.key = "Announcement"
    let itemArray = [announcement]
    metadata.items = itemArray
    rtm.getStorage()?.removeChannelMetadata(channelName: "channel1", channelType: .message, data: metadata, options: nil, lock: nil) { response, errorInfo in
        if errorInfo == nil {
            print("removeChannelMetadata success!!")
        } else {
            if let errorCode = errorInfo?.errorCode, let reason = errorInfo?.reason {
                print("removeChannelMetadata failed, errorCode: \(errorCode), reason: \(reason)")
            }
        }
    }
}

func sample001CompareAndSet(rtm: AgoraRtmClientKit) {
    let metadata = AgoraRtmMetadata()
    let properties = AgoraRtmMetadataItem()
    properties.key = "Quantity"
    properties.value = "30"
    properties.revision = 734874888
    let announcement = AgoraRtmMetadataItem()
    announcement.key = "Announcement"
    announcement.value = "Welcome to our shop!"
    let price = AgoraRtmMetadataItem()
    price.key = "T-shirt"
    price.value = "101"
    price.revision = 734874222
    let itemArray = [properties, announcement, price]
    metadata.items = itemArray
    metadata.majorRevision = 734874892
    let metadataOpt = AgoraRtmMetadataOptions()
    metadataOpt.recordUserId = true
    metadataOpt.recordTs = true
    rtm.getStorage()?.updateChannelMetadata(channelName: "channel1", channelType: .message, data: metadata, options: metadataOpt, lock: nil) { response, errorInfo in
        if errorInfo == nil {
            print("updateChannelMetadata success!!")
        } else {
            if let errorCode = errorInfo?.errorCode, let reason = errorInfo?.reason {
                print("updateChannelMetadata failed, errorCode: \(errorCode), reason: \(reason)")
            }
        }
    }
}

func sample001UpdateUnderLock(rtm: AgoraRtmClientKit) {
    let metadata = AgoraRtmMetadata()
    let properties = AgoraRtmMetadataItem()
    properties.key = "Quantity"
    properties.value = "30"
    properties.revision = 734874888
    let announcement = AgoraRtmMetadataItem()
    announcement.key = "Announcement"
    announcement.value = "Welcome to our shop!"
    let price = AgoraRtmMetadataItem()
    price.key = "T-shirt"
    price.value = "101"
    price.revision = 734874222
    let itemArray = [properties, announcement, price]
    metadata.items = itemArray
    metadata.majorRevision = 734874892
    let metadataOpt = AgoraRtmMetadataOptions()
    metadataOpt.recordUserId = true
    metadataOpt.recordTs = true
    rtm.getStorage()?.updateChannelMetadata(channelName: "channel1", channelType: .message, data: metadata, options: metadataOpt, lock: "manage") { response, errorInfo in
        if errorInfo == nil {
            print("updateChannelMetadata success!!")
        } else {
            if let errorCode = errorInfo?.errorCode, let reason = errorInfo?.reason {
                print("updateChannelMetadata failed, errorCode: \(errorCode), reason: \(reason)")
            }
        }
    }
}

func sample001RemoveWholeSet(rtm: AgoraRtmClientKit) {
    let metadata = AgoraRtmMetadata()
    rtm.getStorage()?.removeChannelMetadata(channelName: "channel1", channelType: .message, data: metadata, options: nil, lock: nil) { response, errorInfo in
        if errorInfo == nil {
            print("removeChannelMetadata success!!")
        } else {
            if let errorCode = errorInfo?.errorCode, let reason = errorInfo?.reason {
                print("removeChannelMetadata failed, errorCode: \(errorCode), reason: \(reason)")
            }
        }
    }
}
