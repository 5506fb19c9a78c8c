internal import CEmbeddedFiles

/// The rules for a user's password (NIST SP 800-63B §5.1.1.2). It gives access to everything that
/// the user owns, so it must not be a common one.
///
/// Passwords of mailboxes have other rules: ``MailboxSecret``.
enum UserPassword {
    /// Unicode code points.
    static let minimumCharacters = 8

    /// Checks a new password. Not for a login, at which a password of any form is verified.
    /// - Parameters:
    ///   - password: bytes as sent, at most 1,024.
    ///   - email: the user's.
    /// - Throws: ``AccountsError/passwordTooShort``, ``AccountsError/passwordTooCommon``.
    static func check(_ password: [UInt8], of email: Email) throws(AccountsError) {
        guard password.count(where: { $0 & 0xc0 != 0x80 }) >= minimumCharacters else {
            throw .passwordTooShort
        }
        let plain = password.map { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        let own = [email.text, email.localPart, email.domain.text]
        guard !own.contains(where: { $0.utf8.elementsEqual(plain) }),
            !CommonPasswords.contains(plain)
        else { throw .passwordTooCommon }
    }
}

/// The most common passwords of at least 8 characters, in lower case; NOTICE names the source.
enum CommonPasswords {
    /// One on each line, in the order of their bytes.
    static let list = EmbeddedFile.common_passwords_txt.bytes

    /// Searches the sorted text itself: a set of its lines would take ten times the memory.
    static func contains(_ password: [UInt8]) -> Bool {
        let newline = UInt8(ascii: "\n")
        var low = 0
        var high = list.count
        while low < high {
            let middle = (low + high) / 2
            let start = list[low..<middle].lastIndex(of: newline).map { $0 + 1 } ?? low
            let end = list[start..<high].firstIndex(of: newline) ?? high
            let line = list[start..<end]
            if line.elementsEqual(password) { return true }
            if line.lexicographicallyPrecedes(password) {
                low = min(end + 1, high)
            } else {
                high = start
            }
        }
        return false
    }
}
