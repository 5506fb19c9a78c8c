internal import COpenSSL

/// Bytes that must not reach a log or a backtrace, and must not stay in memory.
///
/// They print as `<redacted>` everywhere (`print`, `dump`, string interpolation, mirrors), compare
/// in constant time, and are overwritten when the last copy of this value is freed. ``bytes`` is an
/// ordinary array: keep it no longer than the call that needs it.
public struct SecretBytes: Sendable, Equatable {
    private let storage: WipedStorage

    public init(_ bytes: [UInt8]) {
        storage = WipedStorage(bytes)
    }

    public var count: Int { storage.count }

    public var bytes: [UInt8] { storage.bytes }

    /// Calls `body` with the bytes, without a copy of them.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withUnsafeBytes(body)
    }

    public static func == (one: SecretBytes, other: SecretBytes) -> Bool {
        ConstantTime.equal(one.bytes, other.bytes)
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Memory that is written once, in `init`, and wiped in `deinit`. Only its address is stored, so
/// that the class is `Sendable`.
private final class WipedStorage: Sendable {
    let count: Int
    private let address: UInt

    init(_ bytes: [UInt8]) {
        count = bytes.count
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 16)
        memory.copyMemory(from: bytes, byteCount: bytes.count)
        address = UInt(bitPattern: memory)
    }

    deinit {
        guard let memory = UnsafeMutableRawPointer(bitPattern: address) else { return }
        OPENSSL_cleanse(memory, count)
        memory.deallocate()
    }

    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

    func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(
            UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count))
    }
}

extension [UInt8] {
    /// Overwrites the bytes with zeros, in a way that the optimiser does not remove.
    ///
    /// Call it on the only reference to the array. Any other reference would keep the bytes.
    public mutating func wipe() {
        withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
}

/// The memory that OpenSSL allocates.
public enum OpenSSLMemory {
    /// Whether OpenSSL overwrites the memory that it frees, except the buffers of TLS records.
    /// Without it, the DER of an exported private key stays in freed memory. It does not where
    /// another library of the process has used OpenSSL before.
    public static var isWipedWhenFreed: Bool { postern_wipes_freed_memory() == 1 }
}

/// Comparisons whose time does not depend on where two secrets differ.
public enum ConstantTime {
    /// Lengths are not secret: arrays of different lengths are unequal at once.
    public static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
