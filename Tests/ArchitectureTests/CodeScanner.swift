/// Tells Swift code from comments and string literals, well enough for this repository: nested
/// comments, raw and multi-line strings, code inside interpolations. No regular expressions in
/// bare slashes.
struct CodeScanner {
    private enum Context {
        /// In an interpolation: how many parentheses are open. At the top: irrelevant.
        case code(open: Int)
        case string(hashes: Int, multiline: Bool)
    }

    /// All that anything but plain text can begin with.
    private static let mayTurn = Set("/#\"()\\\n".utf8)

    private let text: [UInt8]
    private var index = 0
    private var out: [UInt8] = []
    private var contexts: [Context] = [.code(open: 0)]

    /// - Returns: the code in `text`, with its line breaks where they were.
    static func code(in text: String) -> String {
        var scanner = CodeScanner(text: Array(text.utf8))
        while scanner.index < scanner.text.count { scanner.step() }
        return String(decoding: scanner.out, as: UTF8.self)
    }

    private init(text: [UInt8]) {
        self.text = text
    }

    private mutating func step() {
        switch contexts.last {
        case .string(let hashes, let multiline): stepInString(hashes, multiline)
        case .code(let open): stepInCode(open)
        case nil: index = text.count
        }
    }

    private mutating func stepInCode(_ open: Int) {
        guard Self.mayTurn.contains(text[index]) else {
            out.append(text[index])
            index += 1
            return
        }
        if has("//") { return skipLine() }
        if has("/*") { return skipBlock() }
        let hashes = text[index...].prefix { $0 == UInt8(ascii: "#") }.count
        if has("\"", at: hashes) {
            let multiline = has("\"\"\"", at: hashes)
            index += hashes + (multiline ? 3 : 1)
            out.append(UInt8(ascii: "\""))
            return contexts.append(.string(hashes: hashes, multiline: multiline))
        }
        if has("(") { contexts[contexts.count - 1] = .code(open: open + 1) }
        if has(")") {
            if open == 0, contexts.count > 1 {
                index += 1
                contexts.removeLast()
                return
            }
            contexts[contexts.count - 1] = .code(open: open - 1)
        }
        out.append(text[index])
        index += 1
    }

    private mutating func stepInString(_ hashes: Int, _ multiline: Bool) {
        guard Self.mayTurn.contains(text[index]) else {
            index += 1
            return
        }
        let pounds = String(repeating: "#", count: hashes)
        if has("\\" + pounds + "(") {
            index += 2 + hashes
            // Keeps what is inside apart from what stood before.
            out.append(UInt8(ascii: " "))
            return contexts.append(.code(open: 0))
        }
        if has("\\" + pounds) {
            index += 2 + hashes
            return
        }
        let end = (multiline ? "\"\"\"" : "\"") + pounds
        if has(end) {
            index += end.utf8.count
            out.append(UInt8(ascii: "\""))
            contexts.removeLast()
            return
        }
        if text[index] == UInt8(ascii: "\n") { out.append(text[index]) }
        index += 1
    }

    private mutating func skipLine() {
        while index < text.count, text[index] != UInt8(ascii: "\n") { index += 1 }
    }

    private mutating func skipBlock() {
        var depth = 0
        repeat {
            if has("/*") {
                depth += 1
                index += 2
            } else if has("*/") {
                depth -= 1
                index += 2
            } else {
                if text[index] == UInt8(ascii: "\n") { out.append(text[index]) }
                index += 1
            }
        } while depth > 0 && index < text.count
    }

    private func has(_ expected: String, at offset: Int = 0) -> Bool {
        text[min(index + offset, text.count)...].starts(with: expected.utf8)
    }
}
