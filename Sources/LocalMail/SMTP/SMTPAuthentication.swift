/// AUTH PLAIN (RFC 4616) and AUTH LOGIN, one line of the client after the other.
struct SMTPAuthentication {
    enum Step: Equatable {
        /// The text of a 334 reply.
        case challenge(String)
        case credentials(name: String, password: String)
        case cancelled
        case invalid
    }

    private enum Expected {
        case plain, loginName
        case loginPassword(name: String)
    }

    private var expected: Expected
    /// The initial response of the command (RFC 4954 §4).
    private let initial: ArraySlice<UInt8>?

    /// - Throws: the reply to an AUTH command that begins nothing.
    init(parsing command: SMTPCommand) throws(SMTPReply) {
        let words = command.argument.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count <= 2, let mechanism = words.first, !mechanism.isEmpty else {
            throw SMTPReply(501, "5.5.4", "Syntax: AUTH mechanism [initial response]")
        }
        switch SMTPParameters.lowered(mechanism) {
        case "plain": expected = .plain
        case "login": expected = .loginName
        default: throw SMTPReply(504, "5.5.4", "Mechanisms: PLAIN LOGIN")
        }
        initial = words.count == 2 ? words[1] : nil
    }

    mutating func begin() -> Step {
        if let initial {
            return take(initial.elementsEqual("=".utf8) ? [] : initial)
        }
        switch expected {
        case .plain: return .challenge("")
        case .loginName: return .challenge("VXNlcm5hbWU6")
        case .loginPassword: return .invalid
        }
    }

    mutating func take(_ line: ArraySlice<UInt8>) -> Step {
        if line.elementsEqual("*".utf8) { return .cancelled }
        guard let bytes = Self.decodeBase64(line) else { return .invalid }
        switch expected {
        case .plain: return Self.plain(bytes)
        case .loginName:
            guard let name = Self.text(bytes[...]) else { return .invalid }
            expected = .loginPassword(name: name)
            return .challenge("UGFzc3dvcmQ6")
        case .loginPassword(let name):
            guard let password = Self.text(bytes[...]) else { return .invalid }
            return .credentials(name: name, password: password)
        }
    }

    /// An authorization identity, a name and a password, with NUL between them. Nobody may act as
    /// somebody else.
    private static func plain(_ bytes: [UInt8]) -> Step {
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty || parts[0] == parts[1],
            let name = text(parts[1]), let password = text(parts[2])
        else { return .invalid }
        return .credentials(name: name, password: password)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        guard !bytes.isEmpty, !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// RFC 4648 §4, with its padding and with unused bits that are zero.
    private static func decodeBase64(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        var decoded: [UInt8] = []
        var bits = 0
        var buffer: UInt32 = 0
        for byte in text.dropLast(padding) {
            guard let value = base64Value(byte) else { return nil }
            buffer = buffer << 6 | value
            bits += 6
            if bits >= 8 {
                bits -= 8
                decoded.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        return buffer & (1 << UInt32(bits) - 1) == 0 ? decoded : nil
    }

    private static func base64Value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x41...0x5A: UInt32(byte) - 0x41
        case 0x61...0x7A: UInt32(byte) - 0x61 + 26
        case 0x30...0x39: UInt32(byte) - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
