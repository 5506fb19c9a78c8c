import Cryptography
import TestSupport
import Testing

@testable import AuthCore

struct CompactTokenTests {
    private let header = Base64URL.encode(Array(#"{"alg":"HS256"}"#.utf8))
    private let claims = Base64URL.encode(Array(#"{"a":1}"#.utf8))

    @Test func threePartsAreTakenApart() throws {
        let token = try #require(CompactToken("\(header).\(claims).AQID"))
        #expect(token.signature == [1, 2, 3])
        #expect(token.signedBytes == Array("\(header).\(claims)".utf8))
        #expect(token.header.string("alg") == "HS256")
        #expect(token.claims?.integer("a") == 1)
    }

    @Test(arguments: [
        "", ".", "..", "...", "a.b", "a.b.c.d", "a.b.c.d.e", "e30.e30.=", "e30.e30.A",
        "e30 .e30.AQ",
        "W10.e30.AQ", "bnVsbA.e30.AQ", "e30=.e30.AQ", "\u{0}.\u{0}.\u{0}", "é.é.é", "e30.e30.AR",
    ])
    func anythingElseIsNoToken(text: String) {
        #expect(CompactToken(text) == nil)
    }

    @Test func manyDotsAndHugeTokensAreRefusedUnread() {
        #expect(CompactToken(String(repeating: ".", count: 100_000)) == nil)
        #expect(CompactToken("\(header).\(claims).\(String(repeating: "A", count: 8192))") == nil)
    }

    @Test func claimsThatAreNoObjectAreAbsent() throws {
        #expect(try #require(CompactToken("\(header).W10.AQ")).claims == nil)
        #expect(try #require(CompactToken("\(header)..AQ")).claims == nil)
    }

    @Test func mutatedTokensNeverTrap() {
        let random = SeededBytes(seed: 3)
        let valid = Array("\(header).\(claims).AQIDBAUGBwg".utf8)
        for _ in 0..<20_000 {
            var bytes = valid
            for _ in 0...random.below(3) {
                let index = random.below(bytes.count)
                switch random.below(3) {
                case 0: bytes[index] = random.make(1)[0]
                case 1: bytes.insert(UInt8(ascii: "."), at: index)
                default: bytes.removeSubrange(index...)
                }
                if bytes.isEmpty { bytes = valid }
            }
            _ = CompactToken(String(decoding: bytes, as: UTF8.self))?.claims
        }
    }
}
