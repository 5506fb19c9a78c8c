import Cryptography
import TestSupport
import Testing

@Suite struct SHA256Tests {
    @Test(arguments: try VectorFile.records("sha256.txt"))
    func agreesWithTheCAVPVectors(record: VectorFile.Record) throws {
        #expect(SHA256.digest(try record.bytes("message")) == (try record.bytes("digest")))
    }

    @Test func aMillionLettersAgreeWithFIPS180() {
        #expect(
            Hex.encode(SHA256.digest([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)))
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }
}
