import Cryptography
import TestPrimitives
import Testing

@Suite struct Argon2HashTests {
    /// The example of the reference implementation's README.
    private static let example =
        "$argon2i$v=19$m=65536,t=2,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b+dWRWJTmaaJObG"
    private let bounds = Argon2Hash.Bounds(memoryKiB: 65_536, iterations: 10, parallelism: 4)
    private let cheap = Argon2Hash.Cost(memoryKiB: 8, iterations: 1, parallelism: 1)
    private let salt = Array("0123456789abcdef".utf8)

    private func read(_ text: String) -> Argon2Hash? {
        Argon2Hash(encoded: Array(text.utf8), within: bounds)
    }

    private func text(
        name: String = "argon2id", version: String = "v=19", cost: String = "m=64,t=1,p=1",
        salt: String = "c29tZXNhbHQ", tag: String = "AAAAAAAAAAAAAAAAAAAAAA"
    ) -> String {
        "$\(name)$\(version)$\(cost)$\(salt)$\(tag)"
    }

    @Test func theStringOfTheReferenceImplementationIsReadAndVerified() throws {
        let hash = try #require(read(Self.example))
        #expect(hash.variant == .argon2i)
        #expect(hash.cost == .init(memoryKiB: 65_536, iterations: 2, parallelism: 4))
        #expect(hash.salt == Array("somesalt".utf8))
        #expect(hash.encoded == Self.example)
        #expect(try hash.isTag(of: Array("password".utf8)))
        #expect(try !hash.isTag(of: Array("Password".utf8)))
    }

    @Test(arguments: [
        [], [0], Array("password".utf8), [0, 1, 0], [UInt8](repeating: 0xff, count: 1024),
    ])
    func aHashIsReadBackAndVerifiesOnlyItsPassword(password: [UInt8]) throws {
        for variant in [Argon2.Variant.argon2i, .argon2id] {
            let made = try Argon2Hash(
                password: password, variant: variant, cost: cheap, salt: salt)
            let back = try #require(read(made.encoded))
            #expect(back == made)
            #expect(try back.isTag(of: password))
            #expect(try !back.isTag(of: password + [0]))
        }
    }

    @Test func theTemplateOfTheTestsBelowIsRead() {
        #expect(read(text()) != nil)
    }

    @Test(arguments: [
        "argon2d", "argon2", "argon2ID", "argon2id ", " argon2id", "argon2i\u{0}", "",
    ])
    func otherVariantsAndFormsAreRefused(name: String) {
        #expect(read(text(name: name)) == nil)
    }

    @Test(arguments: ["v=16", "v=019", "v=1", "v=190", "19", "", "V=19", "v=19 "])
    func otherVersionsAreRefused(version: String) {
        #expect(read(text(version: version)) == nil)
    }

    @Test(arguments: [
        "m=064,t=1,p=1", "m=64,t=01,p=1", "m=64,t=1,p=01", "t=1,m=64,p=1", "m=64,p=1,t=1",
        "m=64,t=1", "m=64,t=1,p=1,", "m=64,t=1,p=1,keyid=AAAA", "m=64,t=1,p=1,data=AAAA",
        "m=+64,t=1,p=1", "m=-64,t=1,p=1", "m= 64,t=1,p=1", "m=64,t=1,p=1 ", "m=,t=1,p=1", "",
        "m=0,t=1,p=1", "m=64,t=0,p=1", "m=64,t=1,p=0", "m=0x40,t=1,p=1", "m=6e1,t=1,p=1",
        "m=99999999999999999999999,t=1,p=1", "m=٦٤,t=1,p=1", "M=64,t=1,p=1", "m=64;t=1;p=1",
    ])
    func costsAreDigitsInOneOrderAndNothingElse(cost: String) {
        #expect(read(text(cost: cost)) == nil)
    }

    @Test(arguments: [
        ("m=65536,t=10,p=4", true), ("m=65537,t=1,p=1", false), ("m=64,t=11,p=1", false),
        ("m=64,t=1,p=5", false), ("m=32,t=1,p=4", true), ("m=31,t=1,p=4", false),
        ("m=8,t=1,p=1", true), ("m=7,t=1,p=1", false), ("m=4294967296,t=1,p=1", false),
    ])
    func costsOutsideTheBoundsAreRefused(cost: String, isRead: Bool) {
        #expect((read(text(cost: cost)) != nil) == isRead)
    }

    @Test(arguments: [(7, 32), (65, 32), (16, 15), (16, 65)])
    func saltsAndTagsOutsideTheBoundsAreRefused(saltBytes: Int, tagBytes: Int) {
        let base64 = { (count: Int) in Base64URL.encode([UInt8](repeating: 0, count: count)) }
        #expect(read(text(salt: base64(saltBytes), tag: base64(tagBytes))) == nil)
        #expect(read(text(salt: base64(8), tag: base64(16))) != nil)
        #expect(read(text(salt: base64(64), tag: base64(64))) != nil)
    }

    @Test(arguments: [
        "c29tZXNhbHQ=", "c29tZXNhbH-", "c29tZXNhbH_", "c29tZXNhbHR", "c29tZXNhbHQ ", "c29tZXNhb",
        "c29t\nZXNhbHQ", "c29tZXNhbHÖ",
    ])
    func base64IsStandardUnpaddedAndCanonical(salt: String) {
        #expect(read(text(salt: salt)) == nil)
        #expect(read(text(tag: "AAAAAAAAAAAA" + salt)) == nil)
    }

    @Test func theStandardAlphabetIsTheOneThatIsRead() throws {
        let hash = try #require(read(text(salt: "+/+/+/+/+/8")))
        #expect(hash.salt == [0xfb, 0xff, 0xbf, 0xfb, 0xff, 0xbf, 0xfb, 0xff])
        #expect(hash.encoded == text(salt: "+/+/+/+/+/8"))
    }

    @Test func textAroundTheHashIsRefused() {
        for (before, after) in [("", "$"), ("", "\n"), (" ", ""), ("", "\u{0}"), ("x", "")] {
            #expect(read(before + text() + after) == nil)
        }
        #expect(read(String(text().dropFirst())) == nil)
        #expect(read("$argon2id$m=64,t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA") == nil)
        #expect(read(String(repeating: "$", count: 100_000)) == nil)
    }

    @Test func everyPrefixIsRefusedOrIsAShorterTag() throws {
        let whole = Array(Self.example.utf8)
        let tagStart = try #require(whole.lastIndex(of: UInt8(ascii: "$")))
        for end in whole.indices {
            let read = Argon2Hash(encoded: Array(whole[..<end]), within: bounds)
            #expect(read == nil || end - tagStart > 22)
        }
    }

    @Test func aHashThatIsReadIsWrittenAlikeAndIsWithinTheBounds() {
        var generator = SeededGenerator(seed: 9106)
        let origin = Array(text(cost: "m=64,t=2,p=1", tag: "AAAAAAAAAAAAAAAAAAAAAAAAAAA").utf8)
        let alphabet = Array("$=,mtpv0123456789Aa+/-_ \n".utf8) + [0, 0xff]
        var accepted = 0
        for _ in 0..<50_000 {
            var mutant = origin
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let at = Int.random(in: 0..<mutant.count, using: &generator)
                let byte = alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: mutant[at] = byte
                case 1: mutant.insert(byte, at: at)
                default: mutant.remove(at: at)
                }
            }
            guard let hash = Argon2Hash(encoded: mutant, within: bounds) else { continue }
            accepted += 1
            #expect(Array(hash.encoded.utf8) == mutant)
            #expect(hash.cost.memoryKiB <= 65_536 && hash.cost.memoryKiB >= 8)
            #expect((1...10).contains(hash.cost.iterations))
            #expect((1...4).contains(hash.cost.parallelism))
            #expect((8...64).contains(hash.salt.count) && (16...64).contains(hash.tag.count))
        }
        #expect(accepted > 1000)
    }

    @Test func arbitraryBytesNeverTrap() {
        var generator = SeededGenerator(seed: 2015)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<120, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            #expect(Argon2Hash(encoded: bytes, within: .computable) == nil)
        }
    }
}
