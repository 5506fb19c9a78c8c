/// One command line.
struct SMTPCommand {
    enum Verb: String {
        case helo, ehlo, mail, rcpt, data, bdat, auth, rset, noop, vrfy, help, quit, expn
        case http

        /// The most bytes of the line with its end.
        var limit: Int {
            switch self {
            case .auth: SMTPLimits.authenticationBytes
            case .mail: SMTPLimits.mailBytes
            default: SMTPLimits.commandBytes
            }
        }
    }

    private static let httpMethods: Set = ["get", "post", "put", "head", "connect", "options"]

    let verb: Verb
    /// Without white space around it.
    let argument: ArraySlice<UInt8>

    /// - Parameter line: without its end.
    /// - Returns: `nil` for an unknown command.
    init?(parsing line: [UInt8]) {
        let word = line.prefix { $0 != 0x20 }
        let name = SMTPParameters.lowered(word)
        if Self.httpMethods.contains(name) {
            verb = .http
        } else if name != "http", let known = Verb(rawValue: name) {
            verb = known
        } else {
            return nil
        }
        var rest = line[word.endIndex...]
        while rest.first == 0x20 { rest.removeFirst() }
        while rest.last == 0x20 { rest.removeLast() }
        argument = rest
    }

    /// Of HELO and EHLO: one word of visible ASCII.
    var clientName: String? {
        guard (1...255).contains(argument.count),
            argument.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(decoding: argument, as: UTF8.self)
    }

    /// - Parameter keyword: `from:` or `to:`. Clients put spaces after it, which RFC 5321 does not
    ///   allow and which does no harm.
    func path(after keyword: StaticString) -> SMTPPath? {
        let count = keyword.utf8CodeUnitCount
        let isThere = keyword.withUTF8Buffer { keyword in
            argument.prefix(count).elementsEqual(keyword) { byte, expected in
                (byte &- 0x41 < 26 ? byte | 0x20 : byte) == expected
            }
        }
        guard isThere else { return nil }
        return SMTPPath(parsing: argument.dropFirst(count).drop { $0 == 0x20 })
    }

    /// Of BDAT.
    var chunk: (size: Int, isLast: Bool)? {
        let words = argument.split(separator: 0x20)
        guard let first = words.first, let size = SMTPParameters.number(first) else { return nil }
        switch words.count {
        case 1: return (size, false)
        case 2 where SMTPParameters.lowered(words[1]) == "last": return (size, true)
        default: return nil
        }
    }
}
