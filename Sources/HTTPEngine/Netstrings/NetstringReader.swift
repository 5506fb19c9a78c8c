/// Reads netstrings from bytes (D. J. Bernstein, "Netstrings", 1997): the length in decimal digits
/// without leading zeros, `:`, the bytes, `,`. No socket and no clock.
///
/// Guarantees: The result does not depend on how the bytes are split. A netstring that is too long
/// is dropped as it arrives and costs no memory. After invalid input every result is `.invalid`,
/// because it is unknown where the next netstring begins.
struct NetstringReader {
    enum Event: Equatable {
        case needMore
        case netstring([UInt8])
        /// A netstring that was too long has been dropped.
        case oversized
        case invalid
    }

    private enum State: Equatable {
        case length
        /// The netstring is too long; this many bytes before its comma have not arrived.
        case dropping(Int)
        case invalid
    }

    /// The greatest length that is dropped, and not invalid.
    static let maxDroppedBytes = 100_000

    private let maxBytes: Int
    private var state = State.length
    private var buffer: [UInt8] = []
    /// The bytes before it have been read.
    private var start = 0

    /// - Parameter maxBytes: the greatest length of a netstring that is returned, at most
    ///   `maxDroppedBytes`.
    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// No part of a netstring has arrived.
    var isBetween: Bool { state == .length && start == buffer.count }

    /// The bytes that were not read yet.
    var heldBytes: Int { buffer.count - start }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard state != .invalid else { return }
        buffer.removeFirst(start)
        start = 0
        buffer.append(contentsOf: bytes)
    }

    mutating func next() -> Event {
        switch state {
        case .length: return readNetstring()
        case .dropping(let count): return drop(count)
        case .invalid: return .invalid
        }
    }

    /// Gives back the memory of an empty buffer.
    mutating func releaseBuffer() {
        if start == buffer.count { discard() }
    }

    private mutating func readNetstring() -> Event {
        var length = 0
        var index = start
        while index < buffer.count, let digit = Self.digit(buffer[index]) {
            // A zero is the only digit.
            guard index == start || length > 0 else { return reject() }
            length = length * 10 + digit
            guard length <= Self.maxDroppedBytes else { return reject() }
            index += 1
        }
        guard index < buffer.count else { return .needMore }
        guard index > start, buffer[index] == UInt8(ascii: ":") else { return reject() }
        let content = index + 1
        guard length <= maxBytes else {
            start = content
            return drop(length)
        }
        let end = content + length
        guard end < buffer.count else { return .needMore }
        guard buffer[end] == UInt8(ascii: ",") else { return reject() }
        start = end + 1
        return .netstring(Array(buffer[content..<end]))
    }

    private mutating func drop(_ count: Int) -> Event {
        let dropped = min(count, buffer.count - start)
        start += dropped
        guard dropped == count, start < buffer.count else {
            state = .dropping(count - dropped)
            return .needMore
        }
        guard buffer[start] == UInt8(ascii: ",") else { return reject() }
        start += 1
        state = .length
        return .oversized
    }

    private mutating func reject() -> Event {
        state = .invalid
        discard()
        return .invalid
    }

    /// Drops the bytes that were not read yet.
    mutating func discard() {
        buffer = []
        start = 0
    }

    private static func digit(_ byte: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int(byte - UInt8(ascii: "0")) : nil
    }
}

extension [UInt8] {
    /// Appends the netstring of some bytes.
    mutating func append(netstring bytes: [UInt8]) {
        append(contentsOf: String(bytes.count).utf8)
        append(UInt8(ascii: ":"))
        append(contentsOf: bytes)
        append(UInt8(ascii: ","))
    }
}
