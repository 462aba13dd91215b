import Foundation

func verify(_ headers: [String: String], _ body: Data, secret: String, now: Date) -> Bool {
    guard let id = headers["webhook-id"], let time = headers["webhook-timestamp"],
        let seconds = Double(time), abs(now.timeIntervalSince1970 - seconds) < 300,
        let key = Data(base64Encoded: String(secret.dropFirst("whsec_".count)))
    else { return false }
    let signed = Data("\(id).\(time).".utf8) + body
    return (headers["webhook-signature"] ?? "").split(separator: " ").contains { one in
        guard let given = Data(base64Encoded: String(one.dropFirst("v1,".count))) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            given, authenticating: signed, using: SymmetricKey(data: key))
    }
}
