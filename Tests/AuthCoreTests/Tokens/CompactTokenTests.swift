import Cryptography
import TestSupport
import Testing

@testable import AuthCore

struct CompactTokenTests {
    private let header = Base64URL.encode(Array(#"{"alg":"HS256"}"#.utf8))
    private let claims = Base64URL.encode(Array(#"{"a":1}"#.utf8))

    @Test func aTokenHasThreeParts() throws {
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
    func anythingElseIsNotAToken(text: String) {
        #expect(CompactToken(text) == nil)
    }

    @Test func aTokenOver4096BytesIsRejected() {
        #expect(CompactToken(String(repeating: ".", count: 100_000)) == nil)
        let start = "\(header).\(claims)."
        // A base64url text of 4 n characters is valid, whatever n is.
        let rest = (4096 - start.utf8.count) / 4 * 4
        #expect(CompactToken(start + String(repeating: "A", count: rest)) != nil)
        #expect(CompactToken(start + String(repeating: "A", count: rest + 4)) == nil)
    }

    @Test func claimsThatAreNotAnObjectAreAbsent() throws {
        #expect(try #require(CompactToken("\(header).W10.AQ")).claims == nil)
        #expect(try #require(CompactToken("\(header)..AQ")).claims == nil)
    }

    @Test func aChangedTokenIsRejectedOrReadAsItIsWritten() {
        let random = SeededBytes(seed: 3)
        var read = 0
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
            let text = String(decoding: bytes, as: UTF8.self)
            guard let token = CompactToken(text) else { continue }
            read += 1
            let signed = String(decoding: token.signedBytes, as: UTF8.self)
            #expect(text == "\(signed).\(Base64URL.encode(token.signature))")
            if signed == "\(header).\(claims)" { #expect(token.claims?.integer("a") == 1) }
        }
        #expect(read > 100)
    }
}
