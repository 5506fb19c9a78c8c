internal import Cryptography

/// The public key of a credential (RFC 9052 §7, RFC 9053) for one of the algorithms that
/// ``CredentialAlgorithm`` lists. It has the members that its type needs, and `alg`; no others
/// (Web Authentication §6.5.1.1, §5.8.5).
enum COSEKey {
    /// Members of every key, and values of `kty` (RFC 9052 §7.1, RFC 9053 §7).
    private static let (type, algorithm): (Int64, Int64) = (1, 3)
    private static let (okp, ec2, rsa): (Int64, Int64, Int64) = (1, 2, 3)
    /// Values of `crv`.
    private static let (p256, ed25519): (Int64, Int64) = (1, 6)

    static func publicKey(_ map: CBORMap) throws(WebAuthnError) -> PublicKey {
        guard case .integer(let type) = map[Self.type],
            case .integer(let number) = map[Self.algorithm]
        else { throw .malformed("public key") }
        guard let algorithm = CredentialAlgorithm(rawValue: number) else {
            throw .unacceptableKey
        }
        guard let parameters = parameters(of: map, type: type, for: algorithm) else {
            throw .malformed("public key")
        }
        do throws(CryptographyError) {
            return try PublicKey(parameters)
        } catch {
            throw .unacceptableKey
        }
    }

    private static func parameters(
        of map: CBORMap, type: Int64, for algorithm: CredentialAlgorithm
    ) -> PublicKey.Parameters? {
        // The labels are those of the key's type: -1 is `crv` or `n`, -2 is `x` or `e`, -3 is `y`.
        switch (algorithm, type, map.count) {
        case (.es256, ec2, 5):
            guard map[-1] == .integer(p256), case .bytes(let x) = map[-2],
                case .bytes(let y) = map[-3]
            else { return nil }
            return .p256(x: x, y: y)
        case (.edDSA, okp, 4):
            guard map[-1] == .integer(ed25519), case .bytes(let x) = map[-2] else { return nil }
            return .ed25519(x: x)
        case (.rs256, rsa, 4):
            guard case .bytes(let modulus) = map[-1], case .bytes(let exponent) = map[-2] else {
                return nil
            }
            return .rsa(modulus: modulus, exponent: exponent)
        default: return nil
        }
    }
}

/// The algorithms that credentials may have, by their numbers in COSE, the preferred first.
public enum CredentialAlgorithm: Int64, CaseIterable, Sendable {
    /// Ed25519 (RFC 9053 §2.2).
    case edDSA = -8
    /// ECDSA on P-256 with SHA-256 (RFC 9053 §2.1).
    case es256 = -7
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8812 §2). Windows Hello on TPMs has no other.
    case rs256 = -257
}
