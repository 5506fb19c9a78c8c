/// Keywords of messages (RFC 8621 §4.1.1).
enum Keyword {
    private static let maximumBytes = 255

    static func lowered(_ text: String) -> String {
        String(
            decoding: text.utf8.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        return !bytes.isEmpty && bytes.count <= maximumBytes
            && bytes.allSatisfy { (0x21...0x7E).contains($0) && !"(){]%*\"\\".utf8.contains($0) }
    }
}
