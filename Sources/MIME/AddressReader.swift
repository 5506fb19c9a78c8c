internal import CGMime

extension AddressGroup {
    /// - Parameter value: unfolded, without NUL.
    static func parse(_ value: [UInt8]) -> [AddressGroup] {
        var reader = AddressReader(value)
        return reader.read()
    }
}

/// Divides a list of addresses (RFC 5322 §3.4), each of which GMime parses.
///
/// GMime would call itself for each colon that may begin a group within a group, so that 250 KB of
/// `a:` exceed the stack, and go back over the rest of the list for each group without an end.
private struct AddressReader {
    private let value: [UInt8]
    private var groups: [AddressGroup] = []
    private var isInGroup = false
    private var left = MIMELimits.standard.listItems

    init(_ value: [UInt8]) {
        self.value = value
    }

    mutating func read() -> [AddressGroup] {
        var nesting = AddressNesting()
        var start = 0
        for (index, byte) in value.enumerated() where left > 0 {
            guard nesting.isDelimiter(byte) else { continue }
            switch byte {
            case UInt8(ascii: ":"):
                if isInGroup { continue }
                beginGroup(value[start..<index])
            case UInt8(ascii: ","): add(value[start..<index])
            case UInt8(ascii: ";"):
                add(value[start..<index])
                isInGroup = false
            default: continue
            }
            start = index + 1
        }
        if left > 0 { add(value[start...]) }
        return groups
    }

    /// Groups count as addresses, because they can be empty.
    private mutating func beginGroup(_ name: ArraySlice<UInt8>) {
        left -= 1
        isInGroup = true
        var decoded = ""
        parse(name + ":;".utf8) { list in
            if postern_gmime_count_addresses(list) > 0 { decoded = displayName(list, 0) ?? "" }
        }
        groups.append(AddressGroup(name: decoded, addresses: []))
    }

    private mutating func add(_ item: ArraySlice<UInt8>) {
        let text = ASCII.trimmed(item)
        guard !text.isEmpty else { return }
        var found: [EmailAddress] = []
        parse(text) { list in
            for index in 0..<postern_gmime_count_addresses(list) where found.count < left {
                // RFC 5322 allows no group within a group; one is its members.
                let members = postern_gmime_group_members(list, index)
                for inner in 0..<(members.map(postern_gmime_count_addresses) ?? 1) {
                    found += mailbox(members ?? list, members == nil ? index : inner)
                }
            }
        }
        if found.isEmpty {
            // Not an address; shown as what it may be meant to be.
            let name = HeaderField(name: "", rawBytes: Array(text.prefix(1_000))).text
            found = [EmailAddress(name: name, email: "")]
        }
        if !isInGroup, groups.isEmpty || groups[groups.count - 1].name != nil {
            groups.append(AddressGroup(addresses: []))
        }
        groups[groups.count - 1].addresses += found.prefix(left)
        left -= min(left, found.count)
    }

    private func mailbox(_ list: OpaquePointer, _ index: Int32) -> [EmailAddress] {
        guard let spec = postern_gmime_address_spec(list, index) else { return [] }
        let email = ASCII.withoutControls(String(cString: spec))
        return [EmailAddress(name: displayName(list, index), email: email)]
    }

    /// Calls `body` with GMime's list, unless the item is too long to be an address.
    private func parse(_ item: ArraySlice<UInt8>, _ body: (OpaquePointer) -> Void) {
        guard item.count <= MIMELimits.standard.contentFieldBytes else { return }
        var colons = 8
        // For GMime delimiters may be where they are not for AddressNesting.
        let safe = item.map { byte in
            if byte == UInt8(ascii: ":") { colons -= 1 }
            return byte == UInt8(ascii: ":") && colons < 0 ? ASCII.space : byte
        }
        withCString(safe[...]) { text in
            guard let list = postern_gmime_parse_addresses(text) else { return }
            defer { postern_gmime_free_addresses(list) }
            body(list)
        }
    }

    private func displayName(_ list: OpaquePointer, _ index: Int32) -> String? {
        postern_gmime_address_name(list, index).map { ASCII.withoutControls(String(cString: $0)) }
            .flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// Whether bytes are within a quoted string, a comment, angle brackets or a domain literal.
private struct AddressNesting {
    private var closer: UInt8?
    private var commentDepth = 0
    private var isEscaped = false

    /// Takes the next byte.
    /// - Returns: whether it is outside of all.
    mutating func isDelimiter(_ byte: UInt8) -> Bool {
        if isEscaped {
            isEscaped = false
            return false
        }
        if byte == UInt8(ascii: "\\") {
            isEscaped = true
            return false
        }
        if commentDepth > 0 {
            if byte == UInt8(ascii: "(") { commentDepth += 1 }
            if byte == UInt8(ascii: ")") { commentDepth -= 1 }
            return false
        }
        if let open = closer {
            if byte == open { closer = nil }
            return false
        }
        switch byte {
        case UInt8(ascii: "("): commentDepth = 1
        case UInt8(ascii: "\""): closer = byte
        case UInt8(ascii: "<"): closer = UInt8(ascii: ">")
        case UInt8(ascii: "["): closer = UInt8(ascii: "]")
        default: return true
        }
        return false
    }
}
