internal import COpenSSL

/// Comparisons whose duration tells nothing about where two secrets differ.
public enum ConstantTime {
    /// Lengths are not secret: arrays of different lengths are told apart at once.
    public static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
