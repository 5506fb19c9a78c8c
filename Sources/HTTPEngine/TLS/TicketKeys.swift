internal import Cryptography

/// The keys of session tickets (RFC 5077, RFC 8446 §4.6.1). No clock: the time is an argument.
///
/// Guarantees: a key encrypts tickets for one period, and decrypts them for one more. After that it
/// cannot decrypt a recorded handshake any more. Keys are in memory only, so every server has its
/// own.
struct TicketKeys {
    struct Key {
        static let nameBytes = 16
        static let keyBytes = 32

        private(set) var name = RandomBytes.make(nameBytes)
        /// For AES-256-CBC.
        private(set) var encryption = RandomBytes.make(keyBytes)
        /// For HMAC-SHA256.
        private(set) var authentication = RandomBytes.make(keyBytes)

        fileprivate mutating func wipe() {
            encryption.wipe()
            authentication.wipe()
        }
    }

    static let period = MonotonicTime.Interval(.seconds(3600))

    private var current = Key()
    private var previous: Key?
    private var nextRotation: MonotonicTime

    init(at now: MonotonicTime) { nextRotation = now + Self.period }

    /// The key for new tickets.
    mutating func newest(at now: MonotonicTime) -> Key {
        rotate(at: now)
        return current
    }

    /// The key of a ticket; nil if the key was dropped, or is from another server.
    mutating func find(
        _ name: UnsafeBufferPointer<UInt8>, at now: MonotonicTime
    ) -> (key: Key, isNewest: Bool)? {
        rotate(at: now)
        if name.elementsEqual(current.name) { return (current, true) }
        guard let previous, name.elementsEqual(previous.name) else { return nil }
        return (previous, false)
    }

    private mutating func rotate(at now: MonotonicTime) {
        guard nextRotation <= now else { return }
        previous?.wipe()
        previous = nil
        if now < nextRotation + Self.period { previous = current } else { current.wipe() }
        current = Key()
        nextRotation = now + Self.period
    }
}
