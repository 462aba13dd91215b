// What RTMCryptography uses of Apple's Security.framework, as its documents declare it, so that the branches
// for Apple's platforms can be type-checked where the framework is missing. Nothing here does anything. The
// types of Core Foundation are those of Foundation that they are bridged to.

public import Foundation

public typealias CFData = NSData
public typealias CFDictionary = NSDictionary
public typealias CFString = NSString

public final class SecKey {}

public struct SecKeyAlgorithm: Sendable {
    public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm()
}

public var kSecAttrKeyType: CFString { "" }
public var kSecAttrKeyTypeRSA: CFString { "" }
public var kSecAttrKeyClass: CFString { "" }
public var kSecAttrKeyClassPublic: CFString { "" }
public var kSecAttrKeyClassPrivate: CFString { "" }

public typealias CFErrorResult = UnsafeMutablePointer<Unmanaged<NSError>?>

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: CFErrorResult?
) -> SecKey? { nil }

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData, _ error: CFErrorResult?
) -> CFData? { nil }

// swift-format-ignore: AlwaysUseLowerCamelCase
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: CFErrorResult?
) -> Bool { false }
