/// The segments of a head's path, each percent-decoded, as bytes.
struct PathSegments: Sequence, IteratorProtocol {
    private let head: RequestHead
    private var index: Int
    private var isDone = false

    init(_ head: RequestHead) {
        self.head = head
        let path = head.target.path
        let isRooted = !path.isEmpty && head.bytes[path.lowerBound] == UInt8(ascii: "/")
        index = path.lowerBound + (isRooted ? 1 : 0)
    }

    mutating func next() -> ArraySlice<UInt8>? {
        guard !isDone else { return nil }
        let end = head.target.path.upperBound
        let start = index
        while index < end, head.bytes[index] != UInt8(ascii: "/") { index += 1 }
        let segment = start..<index
        if index < end { index += 1 } else { isDone = true }
        guard head.target.hasEscapes else { return head.bytes[segment] }
        return PercentCoding.decode(head.bytes, in: segment, plusIsSpace: false)[...]
    }
}
