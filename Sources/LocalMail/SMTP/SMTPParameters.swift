/// The parameters of MAIL (RFC 5321 §4.1.2), each at most once.
struct SMTPParameters: Equatable {
    enum Failure: Error {
        case syntax, unknown, tooLarge
    }

    private(set) var isUTF8 = false
    private(set) var declaredBytes: Int?

    init() {}

    /// - Parameter text: what follows the path.
    init(parsing text: ArraySlice<UInt8>, messageBytes: Int) throws(Failure) {
        guard text.isEmpty || text.first == 0x20 else { throw .syntax }
        var names: Set<String> = []
        for parameter in text.split(separator: 0x20) {
            let name = parameter.prefix { $0 != UInt8(ascii: "=") }
            let hasValue = name.endIndex != parameter.endIndex
            let value = hasValue ? parameter[(name.endIndex + 1)...] : nil
            let keyword = Self.lowered(name)
            guard names.insert(keyword).inserted else { throw .syntax }
            switch (keyword, value) {
            case ("size", let value?): try readSize(value, limit: messageBytes)
            case ("body", let value?):
                guard ["7bit", "8bitmime"].contains(Self.lowered(value)) else { throw .syntax }
            case ("smtputf8", nil): isUTF8 = true
            // RFC 4954 §5: who submitted it first. Nobody here asks.
            case ("auth", let value?) where !value.isEmpty: break
            case ("size", nil), ("body", nil), ("smtputf8", _), ("auth", _): throw .syntax
            default: throw .unknown
            }
        }
    }

    private mutating func readSize(_ value: ArraySlice<UInt8>, limit: Int) throws(Failure) {
        guard let size = Self.number(value) else { throw .syntax }
        guard size <= limit else { throw .tooLarge }
        declaredBytes = size
    }

    /// - Returns: `nil` for anything but 1 to 20 digits; a number above all limits for a larger one
    ///   than fits.
    static func number(_ text: ArraySlice<UInt8>) -> Int? {
        guard (1...20).contains(text.count), text.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(String(decoding: text, as: UTF8.self)) ?? .max
    }

    static func lowered(_ text: some Sequence<UInt8>) -> String {
        String(decoding: text.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
