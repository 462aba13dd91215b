import Foundation
import Testing

@testable import RTMAccessToken

/// "Making tokens" in protocol/tokens.md is what strangers make tokens from.
@Suite("The protocol's page about tokens")
struct TokenDocumentTests {
    @Test("its example has the bytes that we build, and its text is read as the same token")
    func example() throws {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "protocol/tokens.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "\n## Making tokens\n").last)
        let block = try #require(section.firstMatch(of: #/```hex\n([^`]*)```/#)).output.1
        let bytes = block.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) }
        let text = try #require(section.firstMatch(of: #/\n    (007\S+)/#)).output.1

        let made = try TokenVector.rtmLogin.token.signed(with: TokenVector.certificate)
        #expect(bytes == [32, 0] + made.signature + made.signedBytes)
        #expect(try SignedToken(String(text)) == made)
        for value in [made.token.appID, TokenVector.certificate, "\(made.token.issuedAt)"] {
            #expect(section.contains(value))
        }
    }
}
