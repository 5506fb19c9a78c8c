/// The position of a request in a trace, as the caller has sent it in the field `traceparent` (W3C
/// Trace Context §3.2).
public struct TraceContext: Equatable, Sendable {
    private let trace: (high: UInt64, low: UInt64)
    private let parent: UInt64

    /// - Parameter bytes: the value of the field.
    /// - Returns: nil for an invalid value, which counts as absent.
    public init?(_ bytes: ArraySlice<UInt8>) {
        // Version, trace id, parent id and flags: 2, 32, 16 and 2 digits with hyphens between them.
        let start = bytes.startIndex
        guard bytes.count >= 55 else { return nil }
        func number(_ offset: Int, digits: Int) -> UInt64? {
            var number: UInt64 = 0
            for byte in bytes[(start + offset)..<(start + offset + digits)] {
                // In lower case only.
                guard let digit = ASCII.hexValue(byte), byte == ASCII.lowered(byte) else {
                    return nil
                }
                number = number << 4 | UInt64(digit)
            }
            return number
        }
        let hyphen = UInt8(ascii: "-")
        guard [2, 35, 52].allSatisfy({ bytes[start + $0] == hyphen }),
            let version = number(0, digits: 2), version != 0xff,
            let high = number(3, digits: 16), let low = number(19, digits: 16),
            let parent = number(36, digits: 16), number(53, digits: 2) != nil,
            high | low != 0, parent != 0
        else { return nil }
        // Later versions may add to the end, after another hyphen.
        guard bytes.count == 55 || version > 0 && bytes[start + 55] == hyphen else { return nil }
        trace = (high, low)
        self.parent = parent
    }

    /// 32 hex digits.
    public var traceID: String { Self.text(trace.high) + Self.text(trace.low) }

    /// The id of the span that sent the request: 16 hex digits.
    public var spanID: String { Self.text(parent) }

    public static func == (left: TraceContext, right: TraceContext) -> Bool {
        left.trace == right.trace && left.parent == right.parent
    }

    private static func text(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
