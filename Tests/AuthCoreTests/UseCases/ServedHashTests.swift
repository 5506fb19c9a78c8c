import Cryptography
import Testing

@testable import AuthCore

struct ServedHashTests {
    private static let hash = "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA"

    private func isRead(_ body: String, within bounds: Argon2Hash.Bounds = .served) -> Bool {
        ServedHash(Array(body.utf8), within: bounds) != nil
    }

    @Test(arguments: [hash, hash + "\n", "\r\n \t" + hash + "\t \r\n\r\n"])
    func oneHashIsReadAndWhiteSpaceAroundItIsIgnored(body: String) {
        #expect(isRead(body))
    }

    @Test(arguments: [
        "", " \r\n", "\u{b}" + hash, hash + "\u{c}", hash + "\0", "\u{feff}" + hash,
        "\u{a0}" + hash, hash + "\u{85}", hash + "\n" + hash, hash + " test123", "x " + hash,
        "\"" + hash + "\"",
    ])
    func anythingElseAroundAHashIsRejected(body: String) {
        #expect(!isRead(body))
    }

    /// Each bound (docs/api.md, "Hash-login API"), and one beyond it.
    @Test(arguments: [
        ("m=65536,t=3,p=4", 64, 64, true), ("m=19660,t=10,p=1", 16, 32, true),
        ("m=65536,t=4,p=4", 16, 32, false), ("m=19661,t=10,p=1", 16, 32, false),
        ("m=65537,t=1,p=1", 16, 32, false),
        ("m=64,t=11,p=1", 16, 32, false), ("m=64,t=1,p=5", 16, 32, false),
        ("m=64,t=1,p=1", 8, 16, true), ("m=64,t=1,p=1", 7, 16, false),
        ("m=64,t=1,p=1", 65, 16, false), ("m=64,t=1,p=1", 8, 15, false),
        ("m=64,t=1,p=1", 8, 65, false),
    ])
    func theCostAndTheLengthsOfAHashAreLimited(cost: String, salt: Int, tag: Int, isAccepted: Bool)
    {
        let zeros = { Base64URL.encode([UInt8](repeating: 0, count: $0)) }
        #expect(isRead("$argon2id$v=19$\(cost)$\(zeros(salt))$\(zeros(tag))") == isAccepted)
    }

    @Test func theBoundsAreASetting() {
        var bounds = Argon2Hash.Bounds.served
        #expect(isRead(Self.hash, within: bounds))
        bounds.tagBytes = 16...16
        bounds.saltBytes = 8...8
        #expect(isRead(Self.hash, within: bounds))
        bounds.saltBytes = 9...64
        #expect(!isRead(Self.hash, within: bounds))
    }

    @Test func onlyThePasswordOfTheHashMatches() throws {
        let hash = try Argon2Hash(
            password: [1, 2, 3], cost: .init(memoryKiB: 8, iterations: 1, parallelism: 1),
            salt: Array("saltsalt".utf8))
        let served = try #require(ServedHash(Array(hash.encoded.utf8), within: .served))
        #expect(try served.matches([1, 2, 3], kernel: .best))
        #expect(try !served.matches([1, 2], kernel: .best))
        #expect(try !served.matches([], kernel: .best))
    }
}
