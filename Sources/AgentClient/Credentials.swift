public import AuthCore
public import Platform
internal import StrictJSON

/// The credentials of an agent, in the form of its credentials file: one JSON object, mode 0600.
///
/// Everybody who reads the file can read the mailbox. The server keeps only a digest of the API
/// key, so a lost file cannot be replaced.
public struct Credentials: Sendable {
    let server: BaseURL
    let account: NewAccount
    let created: Instant

    public init(server: BaseURL, account: NewAccount, created: Instant) {
        self.server = server
        self.account = account
        self.created = created
    }

    /// `{"server","inbox","accountId","apiKey","createdAt"}`, one member on each line.
    var json: [UInt8] {
        let members: [(String, String)] = [
            ("server", server.text), ("inbox", account.inbox), ("accountId", account.accountID),
            ("apiKey", account.apiKey), ("createdAt", created.rfc3339),
        ]
        let lines = members.map { name, value in
            let text = String(
                decoding: JSONWriter.object { $0.member("", value) }, as: UTF8.self)
            // The rest of {"":"value"} is the value with its quotes.
            return "  \"\(name)\": \(text.dropFirst(4).dropLast())"
        }
        return Array("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8)
    }

    /// - Parameter force: whether a file that exists is replaced. Its credentials are then lost.
    public func write(to path: String, force: Bool) throws(FileError) {
        if force {
            try File.replace(path, content: json)
        } else {
            try File.create(path, content: json)
        }
    }

    /// The file that is used when no other is named.
    public static func standardPath(for username: String) -> String {
        "\(username).credentials.json"
    }
}
