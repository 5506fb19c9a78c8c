internal import Cryptography
internal import StrictJSON

/// The keys with which a provider signs (RFC 7517 §5). Keys that cannot verify RS256, ES256 or
/// EdDSA are left out: symmetric and private ones, those for encryption, other curves and
/// algorithms, RSA keys that are too short.
public struct KeySet: Sendable {
    private let keys: [(id: String?, key: PublicKey)]

    public var count: Int { keys.count }

    /// - Throws: ``ProviderError/invalid(_:)``. A set without a key that can be used is none.
    public init(_ document: [UInt8]) throws(ProviderError) {
        let members = try JSONObject(document, of: "the key set")
        guard let list = members.present("keys")?.array, list.count <= ProviderLimits.keys else {
            throw .invalid("the key set has no `keys`, or more than \(ProviderLimits.keys)")
        }
        keys = list.compactMap { $0.object.flatMap(Self.key) }
        guard !keys.isEmpty else { throw .invalid("the key set has no key that can be used") }
    }

    /// The key that a token says it was signed with. Its algorithm is the token's: a key has one,
    /// whatever the token says.
    /// - Parameter id: `nil` for a token without `kid`, which may be signed with the only key of
    ///   its algorithm (OpenID Connect Core §10.1).
    func key(id: String?, algorithm: String) -> PublicKey? {
        let candidates = keys.filter { entry in
            guard let id else { return true }
            return entry.id.map { $0.hasBytes(of: id) } ?? false
        }.filter { $0.key.algorithm.rawValue == algorithm }
        return candidates.count == 1 ? candidates[0].key : nil
    }

    private static func key(_ members: JSONObject) -> (id: String?, key: PublicKey)? {
        // A private or symmetric key in a public document is not a secret.
        guard members["d"] == nil, members["k"] == nil,
            members.string("use").map({ $0 == "sig" }) ?? (members["use"] == nil),
            members.strings("key_ops").map({ $0.contains("verify") }) ?? true,
            members["kid"] == nil || members.string("kid") != nil,
            // Why a key cannot be used does not matter: the others may be enough.
            let parameters = parameters(members), let key = try? PublicKey(parameters),
            members["alg"] == nil || members.string("alg") == key.algorithm.rawValue
        else { return nil }
        return (members.string("kid"), key)
    }

    private static func parameters(_ members: JSONObject) -> PublicKey.Parameters? {
        func bytes(_ name: String) -> [UInt8]? {
            members.string(name).flatMap { Base64URL.decode($0.utf8) }
        }
        switch (members.string("kty"), members.string("crv")) {
        case ("RSA", _):
            guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
            return .rsa(modulus: modulus, exponent: exponent)
        case ("EC", "P-256"):
            guard let x = bytes("x"), let y = bytes("y") else { return nil }
            return .p256(x: x, y: y)
        case ("OKP", "Ed25519"): return bytes("x").map { .ed25519(x: $0) }
        default: return nil
        }
    }
}
