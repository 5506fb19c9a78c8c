public import Cryptography
internal import Synchronization

/// Key pairs that every test of the process uses again: RSA takes up to a second to generate. Those
/// of one instance differ.
public final class TestKeyPairs: Sendable {
    private static let generated = Mutex<[SignatureAlgorithm: [PrivateKey]]>([:])

    private let taken = Mutex<[SignatureAlgorithm: Int]>([:])

    public init() {}

    @Sendable public func next(_ algorithm: SignatureAlgorithm) throws -> PrivateKey {
        let index = taken.withLock { taken in
            defer { taken[algorithm, default: 0] += 1 }
            return taken[algorithm, default: 0]
        }
        return try Self.generated.withLock { generated in
            while generated[algorithm, default: []].count <= index {
                generated[algorithm, default: []].append(try PrivateKey.generate(algorithm))
            }
            return generated[algorithm, default: []][index]
        }
    }
}
