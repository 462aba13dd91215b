import Testing

@testable import RTMEdgeWebSocket

@Suite("Agreement on compression")
struct CompressionAgreementTests {
    private static let usual = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

    @Test("what browsers and libraries offer is accepted, with every message compressed by itself")
    func accepted() {
        let offers = [
            "permessage-deflate", "permessage-deflate; client_max_window_bits",
            "permessage-deflate; client_max_window_bits=10",
            "permessage-deflate;server_no_context_takeover;client_no_context_takeover",
            "Permessage-Deflate; Client_Max_Window_Bits",
            "\t permessage-deflate ; client_max_window_bits = 9 ",
        ]
        for offer in offers {
            let agreement = CompressionAgreement(offers: [offer])
            #expect(agreement?.answer == Self.usual && agreement?.windowBits == 15, "\(offer)")
        }
    }

    @Test("a window that the client asks for is kept to, and the answer says so")
    func window() {
        for (value, bits) in [("9", 9), ("12", 12), ("\"10\"", 10), ("15", 15)] {
            let agreement = CompressionAgreement(
                offers: ["permessage-deflate; server_max_window_bits=\(value)"])
            #expect(agreement?.windowBits == bits)
            #expect(agreement?.answer == Self.usual + "; server_max_window_bits=\(bits)")
        }
    }

    @Test("the first offer that can be accepted is, over several headers")
    func several() {
        let offers = [
            "x-webkit-deflate-frame, permessage-deflate; server_max_window_bits=8",
            "permessage-deflate; server_max_window_bits=11, permessage-deflate",
        ]
        #expect(CompressionAgreement(offers: offers)?.windowBits == 11)
    }

    @Test("offers that are wrong, unknown or beyond zlib are declined, and nothing is agreed on")
    func declined() {
        let parameters = [
            "server_max_window_bits", "server_max_window_bits=8", "server_max_window_bits=16",
            "server_max_window_bits=09", "server_max_window_bits=", "server_max_window_bits=1e1",
            "server_max_window_bits=٩", "server_max_window_bits=10; server_max_window_bits=10",
            "server_no_context_takeover=1", "client_no_context_takeover; client_no_context_takeover",
            "client_max_window_bits=7", "client_max_window_bits=x", "client_max_window_bits=1=2", "other",
            "other=\"a;b,c\"", "",
        ]
        for parameter in parameters {
            let offer = "permessage-deflate; " + parameter
            #expect(CompressionAgreement(offers: [offer]) == nil, "\(offer)")
        }
        for offers in [[], [""], [","], [";"], ["permessage-bzip2"], ["\"permessage-deflate"], ["= ="]] {
            #expect(CompressionAgreement(offers: offers) == nil, "\(offers)")
        }
    }
}
