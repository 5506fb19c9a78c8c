internal import AuthCore
internal import StrictJSON

/// An agent's credentials as they are kept: one JSON object in a file of its own, 0600.
///
/// Whoever reads the file can read the mailbox. Losing it loses the mailbox: the server keeps only
/// a digest of the key.
struct Credentials: Sendable {
    let server: BaseURL
    let enrolment: Enrolment
    let created: Instant

    /// `{"server","inbox","accountId","apiKey","createdAt"}`, one member a line.
    var json: [UInt8] {
        let members: [(String, String)] = [
            ("server", server.text), ("inbox", enrolment.inbox),
            ("accountId", enrolment.accountID), ("apiKey", enrolment.apiKey),
            ("createdAt", created.rfc3339),
        ]
        let lines = members.map { name, value in
            let text = String(
                decoding: JSONWriter.object { $0.member("", value) }, as: UTF8.self)
            // What is left of {"":"value"} is the value with its quotes.
            return "  \"\(name)\": \(text.dropFirst(4).dropLast())"
        }
        return Array("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8)
    }

    /// - Parameter force: whether credentials that are there may go; they cannot be had again.
    func write(to path: String, force: Bool) throws(FileFault) {
        if force {
            try File.replace(path, content: json)
        } else {
            try File.create(path, content: json)
        }
    }

    /// The file that is used when no other is named.
    static func standardPath(for username: String) -> String { "\(username).credentials.json" }
}
