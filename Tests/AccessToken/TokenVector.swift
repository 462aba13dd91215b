import RTMAccessToken
import Testing

/// Tokens of other builders, with the bytes in them.
///
/// They were made with the Python builder of the reference (AgoraIO/Tools, DynamicKey, commit da06bfb). App
/// id and certificate are the sample values of its tests. Deflated texts differ between languages, so
/// the bytes are compared: `signature` and `signed`, in hexadecimal digits.
struct TokenVector: Sendable, CustomTestStringConvertible {
    let name: String
    let token: AccessToken
    let text: String
    let signature: String
    let signed: String

    var testDescription: String { name }

    static let appID = "970CA35de60c44645bbae8a215061b33"
    static let certificate = "5CFd2fd1755d40ecb72977518be15d3b"
    static let otherCertificate = "ffffffffffffffffffffffffffffffff"

    static let rtmLogin = TokenVector(
        name: "rtm-login",
        token: AccessToken(
            appID: appID, issuedAt: 1_111_111, lifetimeSeconds: 600, salt: 1,
            services: [
                TokenService(.rtm(user: "test_user"), privileges: [1: 600])
            ]),
        text: "007eJxTYOCdJftjyTM2zxW6Xhm/5T0j5LdcUt/xYVt48fb5Mp3PX9coMFiaGzg7GpumpJoZJJuYmJmYJ"
            + "iUlplokGhmaGpgZJhkbu38RYIhgYmBgZABhJiBmBPM5GUpSi0viS4tTiwBZVh6A",
        signature: "0d9a1df8a4e60649a82d4a68fb1f49581fb4d227b8f0b65773b79f1c89e7eb7c",
        signed: "2000393730434133356465363063343436343562626165386132313530363162333347f410005802"
            + "0000010000000100020001000100580200000900746573745f75736572")

    static let streamPublisher = TokenVector(
        name: "rtc-stream-channel-publisher",
        token: AccessToken(
            appID: appID, issuedAt: 1_700_000_000, lifetimeSeconds: 3600, salt: 12_345_678,
            services: [
                TokenService(
                    .rtc(channel: "exampleChannel", user: "uniqueUserId"),
                    privileges: [1: 3600, 2: 3600, 3: 3600, 4: 3600])
            ]),
        text: "007eJxTYJAPmdD6nD9cY6P81J1bmQVaPm4LsZ5bFJNwy0joe9nz74cUGCzNDZwdjU1TUs0Mkk1MzExMk"
            + "5ISUy0SjQxNDcwMk4yNGT4GpwrwMTD4Je5hYARCFiAG8ZnAJDOYZAGTfAypFYm5BTmpzhmJeXmpOTwMp"
            + "XmZhaWpocWpRZ4pANwvJm8=",
        signature: "1f549085e70f5728b11f95b9b5031084f1b6543b9d725c60da3212f776e7f7c2",
        signed: "2000393730434133356465363063343436343562626165386132313530363162333300f15365100e"
            + "00004e61bc000100010004000100100e00000200100e00000300100e00000400100e00000e006578"
            + "616d706c654368616e6e656c0c00756e69717565557365724964")

    static let combined = TokenVector(
        name: "rtc-plus-rtm-combined",
        token: AccessToken(
            appID: appID, issuedAt: 1_700_000_000, lifetimeSeconds: 3600, salt: 42,
            services: [
                TokenService(
                    .rtc(channel: "exampleChannel", user: "uniqueUserId"), privileges: [1: 3600, 4: 900]),
                TokenService(.rtm(user: "uniqueUserId"), privileges: [1: 1800]),
            ]),
        text: "007eJxTYIg3EQzbUBH8+JaFRFDXW8sT1SXSGjWiIUt38394nFPMU63AYGlu4OxobJqSamaQbGJiZmKal"
            + "JSYapFoZGhqYGaYZGzM8DE4VYCPgUGLgYGBiYERjEF8FoYWZgYGPobUisTcgpxU54zEvLzUHB6G0rzMw"
            + "tLU0OLUIs8UkFpGBg52BgZUcQBAvyjP",
        signature: "5f341156b07853e3da3818528aed39c87b741b287c1554a5bb0ff0e36c730c7b",
        signed: "2000393730434133356465363063343436343562626165386132313530363162333300f15365100e"
            + "00002a0000000200010002000100100e00000400840300000e006578616d706c654368616e6e656c"
            + "0c00756e69717565557365724964020001000100080700000c00756e69717565557365724964")

    static let expired = TokenVector(
        name: "expired-in-2001",
        token: AccessToken(
            appID: appID, issuedAt: 1_000_000_000, lifetimeSeconds: 60, salt: 5,
            services: [
                TokenService(.rtm(user: "test_user"), privileges: [1: 60])
            ]),
        text: "007eJxTYFjUab1roldjrN4xzekcPvb9q8ynvti7ZsLTS/ly/zI05tcqMFiaGzg7GpumpJoZJJuYmJmYJ"
            + "iUlplokGhmaGpgZJhkbM5yaZW3DwMDACsSMDExAzMgA4nMylKQWl8SXFqcWAQBc8B58",
        signature: "a2893bba914a815d2ec62997084c3f8faa3795e8bdac90e5d26f1efe68289f7d",
        signed: "2000393730434133356465363063343436343562626165386132313530363162333300ca9a3b3c00"
            + "00000500000001000200010001003c0000000900746573745f75736572")

    static let all = [rtmLogin, streamPublisher, combined, expired]

    /// This token parses, but the last byte of its user id was changed, so no certificate verifies it.
    static let tampered =
        "007eJxTYOCdJftjyTM2zxW6Xhm/5T0j5LdcUt/xYVt48fb5Mp3PX9coMFiaGzg7GpumpJoZJJuYmJmYJ"
        + "iUlplokGhmaGpgZJhkbu38RYIhgYmBgZABhJiBmBPM5GUpSi0viS4tTiwFZVx6B"
}
