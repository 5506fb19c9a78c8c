/// Identifies one request in logs and in `X-Request-Id`: unique in this process and, by a random
/// prefix of 32 bits, very likely among all processes. Not a secret.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
    let prefix: UInt32
    /// Of the requests of this process, from 1.
    public let number: UInt64

    public init(prefix: UInt32, number: UInt64) {
        self.prefix = prefix
        self.number = number
    }

    /// Eight hex digits of the prefix, a hyphen, the number in hex.
    public var description: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// The greatest length of the text, in bytes.
    static let maxBytes = 25

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(RequestID.maxBytes)
        forEachByte { bytes.append($0) }
        return bytes
    }

    /// Passes the text byte by byte, so that no String is needed to write it into a response.
    func forEachByte(_ body: (UInt8) -> Void) {
        for shift in stride(from: 28, through: 0, by: -4) {
            body(hexDigit(UInt64(prefix >> UInt32(shift)) & 15))
        }
        body(0x2d)
        var shift = max(0, 60 - number.leadingZeroBitCount & ~3)
        repeat {
            body(hexDigit((number >> UInt64(shift)) & 15))
            shift -= 4
        } while shift >= 0
    }

    private func hexDigit(_ value: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 10 ? 0x30 + value : 0x57 + value)
    }
}
