/// A reverse-path or forward-path (RFC 5321 §4.1.2).
struct SMTPPath: Equatable {
    /// The address without source route, with a quoted local part only where it needs one. Empty
    /// for the null reverse-path.
    let address: String
    let isASCII: Bool
    /// What follows the path.
    let rest: ArraySlice<UInt8>

    private static let maximumLocalBytes = 64
    private static let maximumDomainBytes = 255
    private static let maximumPathBytes = 256

    static func isAddress(_ text: String) -> Bool {
        guard let path = SMTPPath(parsing: Array("<\(text)>".utf8)[...]) else { return false }
        return path.rest.isEmpty && path.address.utf8.contains(UInt8(ascii: "@"))
    }

    /// - Returns: `nil` where `bytes` do not begin with a path.
    init?(parsing bytes: ArraySlice<UInt8>) {
        guard bytes.first == UInt8(ascii: "<") else { return nil }
        var reader = Reader(rest: bytes.dropFirst())
        guard reader.skipRoute() else { return nil }
        if reader.take(">") {
            (address, isASCII, rest) = ("", true, reader.rest)
            return
        }
        guard let local = reader.localPart() else { return nil }
        var text = local
        if reader.take("@") {
            guard let domain = reader.domain() else { return nil }
            text += [UInt8(ascii: "@")] + domain
        } else {
            // RFC 5321 §4.5.1: the only one without a domain.
            guard local.count == 10, local.elementsEqual("postmaster".utf8, by: { $0 | 0x20 == $1 })
            else { return nil }
        }
        guard reader.take(">"), text.count <= Self.maximumPathBytes - 2,
            let address = String(validating: text, as: UTF8.self)
        else { return nil }
        self.address = address
        isASCII = text.allSatisfy { $0 < 0x80 }
        rest = reader.rest
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func take(_ byte: Unicode.Scalar) -> Bool {
            guard let first = rest.first, first == UInt8(ascii: byte) else { return false }
            rest.removeFirst()
            return true
        }

        /// `@one.example,@two.example:`, which is ignored (RFC 5321 §4.1.1.3).
        mutating func skipRoute() -> Bool {
            guard rest.first == UInt8(ascii: "@") else { return true }
            repeat {
                guard take("@"), domain() != nil else { return false }
            } while take(",")
            return take(":")
        }

        mutating func localPart() -> [UInt8]? {
            let local = rest.first == UInt8(ascii: "\"") ? quoted() : dotString()
            guard let local, local.count <= SMTPPath.maximumLocalBytes else { return nil }
            return local
        }

        mutating func domain() -> [UInt8]? {
            let isLiteral = rest.first == UInt8(ascii: "[")
            let end =
                isLiteral
                ? rest.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 }
                : rest.firstIndex { !Self.isDomainByte($0) } ?? rest.endIndex
            guard let end else { return nil }
            let domain = rest[..<end]
            let isValid =
                isLiteral
                ? domain.dropFirst().dropLast().allSatisfy(Self.isLiteralByte) && domain.count > 2
                : domain.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                    .allSatisfy(Self.isLabel)
            guard isValid, domain.count <= SMTPPath.maximumDomainBytes else { return nil }
            rest = rest[end...]
            return Array(domain)
        }

        private mutating func dotString() -> [UInt8]? {
            let text = rest.prefix { Self.isAtomByte($0) || $0 == UInt8(ascii: ".") }
            guard Self.isDotString(text) else { return nil }
            rest = rest[text.endIndex...]
            return Array(text)
        }

        /// A quoted string that could be written without quotation marks is the same local part.
        private mutating func quoted() -> [UInt8]? {
            rest.removeFirst()
            var text: [UInt8] = []
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "\"") {
                    if Self.isDotString(text[...]) { return text }
                    let escaped = text.flatMap { byte in
                        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
                            ? [UInt8(ascii: "\\"), byte] : [byte]
                    }
                    return [UInt8(ascii: "\"")] + escaped + [UInt8(ascii: "\"")]
                }
                let isEscaped = byte == UInt8(ascii: "\\")
                guard let taken = isEscaped ? rest.popFirst() : byte, taken >= 0x20, taken != 0x7F,
                    !isEscaped || taken < 0x80
                else { return nil }
                text.append(taken)
            }
            return nil
        }

        private static func isDotString(_ text: ArraySlice<UInt8>) -> Bool {
            text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .allSatisfy { !$0.isEmpty && $0.allSatisfy(isAtomByte) }
        }

        private static func isAtomByte(_ byte: UInt8) -> Bool {
            isAlphanumeric(byte) || byte >= 0x80 || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
        }

        private static func isDomainByte(_ byte: UInt8) -> Bool {
            isAlphanumeric(byte) || byte >= 0x80 || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: ".")
        }

        private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
            !label.isEmpty && label.count <= 63 && label.first != UInt8(ascii: "-")
                && label.last != UInt8(ascii: "-")
        }

        private static func isLiteralByte(_ byte: UInt8) -> Bool {
            isAlphanumeric(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":")
                || byte == UInt8(ascii: "-")
        }

        private static func isAlphanumeric(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                || (0x61...0x7A).contains(byte)
        }
    }
}
