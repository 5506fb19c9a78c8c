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

    @Test func aSetOfManyKeysIsNone() {
        let text = #"{"keys":[\#(Array(repeating: "{}", count: 65).joined(separator: ","))]}"#
        #expect(throws: ProviderError.invalid("the key set has no `keys`, or more than 64")) {
            try KeySet(Array(text.utf8))
        }
    }
}
