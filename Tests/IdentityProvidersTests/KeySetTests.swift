import Cryptography
import StrictJSON
import TestSupport
import Testing

@testable import IdentityProviders

/// Which keys of a provider are used (RFC 7517).
struct KeySetTests {
    private static let key = try? PrivateKey.generate(.es256)

    /// A set with one P-256 key and these members.
    private func set(_ members: String) throws -> KeySet {
        let key = try #require(Self.key)
        let text = JSONWriter.object { SoftProvider.write(key.publicKey.parameters, to: &$0) }
        let members = members.isEmpty ? "" : ",\(members)"
        return try KeySet(
            Array(
                #"{"keys":[\#(String(decoding: text.dropLast(), as: UTF8.self))\#(members)}]}"#.utf8
            ))
    }

    @Test(
        arguments: [
            "", #""kid":"a""#, #""use":"sig""#, #""alg":"ES256""#, #""key_ops":["verify"]"#,
            #""x5c":["MII"],"x5t":"a""#,
        ])
    func aKeyForSignaturesIsUsed(members: String) throws {
        #expect(try set(members).count == 1)
    }

    @Test(
        arguments: [
            #""use":"enc""#, #""use":1"#, #""alg":"RS256""#, #""alg":"ES384""#, #""alg":1"#,
            #""key_ops":["encrypt"]"#, #""kid":1"#, #""d":"AA""#, #""k":"AA""#,
        ])
    func everyOtherKeyIsLeftOut(members: String) {
        #expect(throws: ProviderError.self) { try set(members) }
    }

    @Test(
        arguments: [
            "", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[1]}"#,
            #"{"keys":[{"kty":"oct","k":"AAAA"}]}"#,
            #"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#,
            #"{"keys":[{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}]}"#,
            #"{"keys":[{"kty":"OKP","crv":"X25519","x":"AA"}]}"#,
            #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#,
            #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"not base64"}]}"#,
        ])
    func aSetWithoutAUsableKeyIsNone(text: String) {
        #expect(throws: ProviderError.self) { try KeySet(Array(text.utf8)) }
    }

    /// A set of P-256 keys with these ids.
    private func keys(_ ids: [String?]) throws -> KeySet {
        let made = try ids.map { ($0, try PrivateKey.generate(.es256).publicKey) }
        return try KeySet(
            JSONWriter.object { body in
                body.array("keys") { list in
                    for (id, key) in made {
                        list.element { member in
                            if let id { member.member("kid", id) }
                            SoftProvider.write(key.parameters, to: &member)
                        }
                    }
                }
            })
    }

    @Test func aKeyIsFoundByItsIDAndItsAlgorithm() throws {
        // U+212A is canonically equivalent to K.
        let several = try keys(["a", "K", "\u{212A}", nil])
        for id in ["a", "K", "\u{212A}"] {
            #expect(several.key(id: id, algorithm: "ES256") != nil)
            #expect(several.key(id: id, algorithm: "RS256") == nil)
        }
        #expect(several.key(id: "b", algorithm: "ES256") == nil)
    }

    @Test func ofSeveralKeysThatFitNoneIsUsed() throws {
        #expect(try keys(["a"]).key(id: nil, algorithm: "ES256") != nil)
        #expect(try keys(["a", "b"]).key(id: nil, algorithm: "ES256") == nil)
        #expect(try keys(["a", "a"]).key(id: "a", algorithm: "ES256") == nil)
    }

    @Test func aSetOfManyKeysIsNone() {
        let text = #"{"keys":[\#(Array(repeating: "{}", count: 65).joined(separator: ","))]}"#
        #expect(throws: ProviderError.invalid("the key set has no `keys`, or more than 64")) {
            try KeySet(Array(text.utf8))
        }
    }
}
