internal import CGMime

/// A header field that is to be written.
public struct DraftField: Sendable {
    public var name: String
    public var value: DraftValue

    public init(_ name: String, _ value: DraftValue) {
        self.name = name
        self.value = value
    }
}

/// The forms of RFC 8621 §4.1.2. No value may have control characters, tabs in a raw one and in a
/// text excepted.
public enum DraftValue: Sendable {
    /// Written as it is, folded at white space. Other characters than ASCII are encoded as in a
    /// text.
    case raw(String)
    case text(String)
    case addresses([EmailAddress])
    case groupedAddresses([AddressGroup])
    /// Without angle brackets.
    case messageIds([String])
    case date(MessageDate)
    case urls([String])

    /// A field without addresses, ids or URLs is not written: most fields may not be empty
    /// (RFC 5322 §3.6.3).
    fileprivate var isEmptyList: Bool {
        switch self {
        case .addresses(let list): list.isEmpty
        case .groupedAddresses(let groups):
            groups.allSatisfy { $0.name == nil && $0.addresses.isEmpty }
        case .messageIds(let items), .urls(let items): items.isEmpty
        case .raw, .text, .date: false
        }
    }
}

/// Writes header fields.
struct HeaderWriter {
    private(set) var bytes: [UInt8] = []
    /// RFC 5322 §2.1.1, without CRLF.
    private static let lineBytes = 998
    /// What should not be exceeded.
    private static let shortLineBytes = 78

    mutating func write(_ field: DraftField) throws(MIMEError) {
        let name = Array(field.name.utf8)
        let isName = name.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
        guard isName, !name.isEmpty, name.count <= 76 else { throw .invalidFieldName(field.name) }
        if field.value.isEmptyList { return }
        let value = try encode(field)
        try append(field.name, Array(value.utf8))
    }

    /// A field of GMime's encoding, which is folded with LF.
    mutating func write(name: String, encoded: String?) throws(MIMEError) {
        guard let encoded else { throw .invalidValue(name) }
        let flat = encoded.utf8.filter { $0 != ASCII.lineFeed && $0 != ASCII.carriageReturn }
        try append(name, flat.map { $0 == ASCII.tab ? ASCII.space : $0 })
    }

    private func encode(_ field: DraftField) throws(MIMEError) -> String {
        switch field.value {
        case .raw(let text), .text(let text): try encode(text: text, of: field)
        case .addresses(let list):
            try encode([AddressGroup(addresses: list)], of: field.name)
        case .groupedAddresses(let groups): try encode(groups, of: field.name)
        case .messageIds(let ids): try encode(ids, of: field.name, between: " ")
        case .urls(let urls): try encode(urls, of: field.name, between: ", ")
        case .date(let date): try date.rfc5322()
        }
    }

    private func encode(text: String, of field: DraftField) throws(MIMEError) -> String {
        try Self.check(text, of: field.name, allowsTab: true)
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        if isASCII, case .raw = field.value { return text }
        if EncodedWords.isImitated(by: text) { return EncodedWords.encode(text) }
        let encoded = isASCII ? text : taken(postern_gmime_encode_text(text))
        guard let encoded else { throw .invalidValue(field.name) }
        return encoded
    }

    /// Items in angle brackets.
    private func encode(
        _ items: [String], of name: String, between separator: String
    ) throws(MIMEError) -> String {
        for item in items {
            let isValid = item.utf8.allSatisfy {
                (0x21...0x7E).contains($0) && $0 != 0x3C && $0 != 0x3E
            }
            guard isValid, !item.isEmpty else { throw .invalidValue(name) }
        }
        return items.map { "<\($0)>" }.joined(separator: separator)
    }

    private func encode(_ groups: [AddressGroup], of name: String) throws(MIMEError) -> String {
        for group in groups {
            try Self.check(group.name ?? "", of: name)
            for address in group.addresses {
                try Self.check(address.name ?? "", of: name)
                guard Self.isAddress(address.email) else { throw .invalidValue(name) }
            }
        }
        let list = postern_gmime_new_addresses()
        guard let list else { throw .invalidValue(name) }
        defer { postern_gmime_free_addresses(list) }
        for group in groups {
            let members = group.name.map { postern_gmime_add_group(list, $0) } ?? list
            for address in group.addresses {
                // A name of encoded words is written as it is.
                let name = address.name.map {
                    EncodedWords.isImitated(by: $0) ? EncodedWords.encode($0) : $0
                }
                postern_gmime_add_mailbox(members, name, address.email)
            }
        }
        return taken(postern_gmime_encode_addresses(list)) ?? ""
    }

    /// An addr-spec that cannot be taken for two. The local part may be quoted.
    private static func isAddress(_ email: String) -> Bool {
        guard let at = email.utf8.lastIndex(of: UInt8(ascii: "@")) else { return false }
        let local = email.utf8[..<at]
        let domain = email.utf8[email.utf8.index(after: at)...]
        let isQuoted = local.count > 2 && local.first == 0x22 && local.last == 0x22
        let forbidden = isQuoted ? "\"\\<>" : "\"\\<>()[]:;@, "
        let inner = isQuoted ? local.dropFirst().dropLast() : local
        let isVisible = { (byte: UInt8) in byte >= 0x20 && byte != 0x7F }
        let isLocal =
            !inner.isEmpty && inner.allSatisfy { isVisible($0) && !forbidden.utf8.contains($0) }
        return isLocal && !domain.isEmpty
            && domain.allSatisfy { isVisible($0) && !"\"\\<>();@, ".utf8.contains($0) }
    }

    static func check(
        _ text: String, of name: String, allowsTab: Bool = false
    ) throws(MIMEError) {
        let isValid = text.utf8.allSatisfy {
            $0 >= 0x20 && $0 != 0x7F || allowsTab && $0 == ASCII.tab
        }
        guard isValid else { throw .invalidValue(name) }
    }

    /// Folds at white space (RFC 5322 §2.2.3): a line break before it, where the line becomes too
    /// long. No line consists of white space alone.
    private mutating func append(_ name: String, _ value: [UInt8]) throws(MIMEError) {
        bytes += Array("\(name):".utf8)
        var column = name.utf8.count + 1
        var rest = ASCII.trimmed(value[...])
        if rest.isEmpty { bytes.append(ASCII.space) }
        var isFirst = true
        while !rest.isEmpty {
            let white = rest.prefix(while: ASCII.isWhite)
            let word = rest[white.endIndex...].prefix { !ASCII.isWhite($0) }
            let gap = isFirst ? [ASCII.space] : Array(white)
            if !isFirst, column + gap.count + word.count > Self.shortLineBytes {
                bytes += [ASCII.carriageReturn, ASCII.lineFeed]
                column = 0
            }
            bytes += gap + word
            column += gap.count + word.count
            guard column <= Self.lineBytes else { throw .lineTooLong(name) }
            rest = rest[word.endIndex...]
            isFirst = false
        }
        bytes += [ASCII.carriageReturn, ASCII.lineFeed]
    }
}
