internal import COpenSSL

/// Bytes that must not reach a log, a backtrace or a core file longer than needed.
///
/// They print as `<redacted>` by every road (`print`, `dump`, string interpolation, mirrors),
/// compare in constant time, and are overwritten when the last copy of this value goes. What
/// `bytes` returns is an ordinary array: keep it no longer than the call that needs it.
public struct SecretBytes: Sendable, Equatable {
    private let storage: WipedStorage

    public init(_ bytes: [UInt8]) {
        storage = WipedStorage(bytes)
    }

    public var count: Int { storage.count }

    public var bytes: [UInt8] { storage.bytes }

    public static func == (one: SecretBytes, other: SecretBytes) -> Bool {
        ConstantTime.equal(one.bytes, other.bytes)
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Memory of its own that is written once, here, and wiped in `deinit`; only its address is stored,
/// which several threads may read.
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

    var bytes: [UInt8] {
        withExtendedLifetime(self) {
            Array(
                UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count))
        }
    }
}
