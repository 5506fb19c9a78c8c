internal import AuthCore
internal import Cryptography

/// The id of one write: 16 bytes.
enum WriteID {
    /// Begins with the time, so that the newest ids are next to each other in an index.
    static func make(at now: Instant) -> [UInt8] {
        let time = UInt64(bitPattern: now.milliseconds)
        return stride(from: 40, through: 0, by: -8).map { UInt8(truncatingIfNeeded: time >> $0) }
            + RandomBytes.make(10)
    }
}
