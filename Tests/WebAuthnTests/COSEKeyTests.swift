import Cryptography
import TestSupport
import Testing

@testable import WebAuthn

@Suite struct COSEKeyTests {
    private func key(_ bytes: [UInt8]) throws -> PublicKey {
        guard case .map(let map) = try CBORReader.value(of: bytes) else {
            throw WebAuthnError.malformed("map")
        }
        return try COSEKey.publicKey(map)
    }

    private func map(_ members: [(Int, [UInt8])]) -> [UInt8] {
        CBOR.map(members.map { (CBOR.integer($0.0), $0.1) })
    }

    @Test func anotherAlgorithmTypeOrCurveIsRefused() throws {
        let pair = try PrivateKey.generate(.es256)
        guard case .p256(let x, let y) = pair.publicKey.parameters else { return }
        func ec(
            type: Int = 2, algorithm: Int = -7, curve: Int = 1, x: [UInt8], y: [UInt8],
            more: [(Int, [UInt8])] = []
        ) -> [UInt8] {
            map(
                [
                    (1, CBOR.integer(type)), (3, CBOR.integer(algorithm)),
                    (-1, CBOR.integer(curve)), (-2, CBOR.bytes(x)), (-3, CBOR.bytes(y)),
                ] + more)
        }
        #expect(try key(ec(x: x, y: y)).parameters == .p256(x: x, y: y))
        for algorithm in [-35, -36, -37, -65535, 0, 7] {
            #expect(throws: WebAuthnError.unacceptableKey) {
                try key(ec(algorithm: algorithm, x: x, y: y))
            }
        }
        let malformed = WebAuthnError.malformed("public key")
        for wrong in [
            ec(type: 1, x: x, y: y), ec(type: 3, x: x, y: y), ec(curve: 2, x: x, y: y),
            ec(algorithm: -8, x: x, y: y), ec(algorithm: -257, x: x, y: y),
            ec(x: x, y: y, more: [(2, CBOR.bytes([1]))]),
            map([(1, CBOR.integer(2)), (3, CBOR.integer(-7))]), map([]),
            map([(3, CBOR.integer(-7))]),
        ] { #expect(throws: malformed) { try key(wrong) } }
        // Not on the curve, the point at infinity, and coordinates of other lengths.
        var other = y
        other[31] ^= 1
        for (x, y) in [
            (x, other), ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32)),
            (x, Array(y.dropLast())), ([0] + x, y), (x, []),
        ] { #expect(throws: WebAuthnError.unacceptableKey) { try key(ec(x: x, y: y)) } }
    }

    @Test func anotherCurveOfEdwardsIsRefused() throws {
        let pair = try PrivateKey.generate(.edDSA)
        guard case .ed25519(let x) = pair.publicKey.parameters else { return }
        func okp(curve: Int) -> [UInt8] {
            map([
                (1, CBOR.integer(1)), (3, CBOR.integer(-8)), (-1, CBOR.integer(curve)),
                (-2, CBOR.bytes(x)),
            ])
        }
        #expect(try key(okp(curve: 6)).parameters == .ed25519(x: x))
        // X25519, X448, Ed448.
        for curve in [4, 5, 7, 1] {
            #expect(throws: WebAuthnError.malformed("public key")) { try key(okp(curve: curve)) }
        }
    }

    @Test func weakRSAKeysAreRefused() throws {
        func rsa(_ modulus: [UInt8], _ exponent: [UInt8]) -> [UInt8] {
            map([
                (1, CBOR.integer(3)), (3, CBOR.integer(-257)), (-1, CBOR.bytes(modulus)),
                (-2, CBOR.bytes(exponent)),
            ])
        }
        let pair = try PrivateKey.generate(.rs256)
        guard case .rsa(let modulus, let exponent) = pair.publicKey.parameters else { return }
        #expect(try key(rsa(modulus, exponent)).algorithm == .rs256)
        for (modulus, exponent) in [
            (Array(modulus.prefix(128)), exponent), (modulus, [1]), (modulus, [2]), (modulus, []),
            ([], exponent), (modulus, [UInt8](repeating: 1, count: 9)),
            ([UInt8](repeating: 0xFF, count: 1_025), exponent),
        ] { #expect(throws: WebAuthnError.unacceptableKey) { try key(rsa(modulus, exponent)) } }
    }
}
