/// `format=flowed` (RFC 3676): lines that end with a space continue in the next line.
public struct TextFlow: Equatable, Sendable {
    /// `delsp=yes`: that space is not part of the text.
    public let deletesSpace: Bool

    public init(deletesSpace: Bool) {
        self.deletesSpace = deletesSpace
    }

    /// Joins the lines of each paragraph. Quoted lines keep their marks, once for a paragraph.
    /// - Parameter text: with LF as line breaks.
    public func unfold(_ text: String) -> String {
        var result: [UInt8] = []
        var depth: Int?
        for line in text.utf8.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false) {
            let quote = line.prefix { $0 == UInt8(ascii: ">") }.count
            var rest = line.dropFirst(quote)
            // RFC 3676 §4.4: space-stuffing.
            if rest.first == ASCII.space { rest = rest.dropFirst() }
            // §4.3: the separator of a signature is never flowed.
            let isSignature = rest.elementsEqual("-- ".utf8)
            if let open = depth, open == quote, !isSignature {
                result += rest
            } else {
                if depth != nil { result.append(ASCII.lineFeed) }
                if quote > 0 { result += line.prefix(quote) + [ASCII.space] }
                result += rest
            }
            let isFlowed = rest.last == ASCII.space && !isSignature
            if isFlowed, deletesSpace { result.removeLast() }
            depth = isFlowed ? quote : nil
            if !isFlowed { result.append(ASCII.lineFeed) }
        }
        // The text's last line has no line break.
        if result.last == ASCII.lineFeed, depth == nil { result.removeLast() }
        return String(decoding: result, as: UTF8.self)
    }
}
