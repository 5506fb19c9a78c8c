internal import AuthCore
internal import Platform
internal import StrictJSON

/// The result of a signup, as text for people and as JSON for programs.
public struct SignupReport: Sendable {
    let credentials: Credentials
    /// The credentials file, if one was written.
    let path: String?
    var capability: String?
    var mailServer: MailServer?
    /// The reason if the report has no mail store. The account exists in this case, too.
    var remark: String?

    public init(_ credentials: Credentials, path: String?) {
        self.credentials = credentials
        self.path = path
    }

    /// Adds the capability token and the mail store. An error there becomes a remark, because the
    /// signup itself has succeeded.
    public func completed(by client: AgentAPIClient, session: String) async -> SignupReport {
        var report = self
        do {
            let capability = try await client.capability(session: session)
            report.capability = capability
            report.mailServer = try await client.mailServer(capability: capability)
        } catch {
            report.remark = "\(error)"
        }
        return report
    }

    public var text: String {
        let account = credentials.account
        var lines = [
            "signed up \(account.inbox.printable())",
            "  account      \(account.accountID.printable())",
        ]
        if let path { lines.append("  credentials  \(path) (holds the API key; keep it secret)") }
        if let mailServer { lines.append("  JMAP         \(mailServer.apiURL.printable())") }
        if let remark { lines.append("  JMAP         not reached: \(remark)") }
        return lines.joined(separator: "\n")
    }

    /// One object: the members of the credentials file, then those about the mail store.
    public var json: String {
        let object = JSONWriter.object { report in
            report.member("server", credentials.server.text)
            report.member("inbox", credentials.account.inbox)
            report.member("accountId", credentials.account.accountID)
            report.member("apiKey", credentials.account.apiKey)
            report.member("createdAt", credentials.created.rfc3339)
            report.member("credentialsFile", path)
            report.member("capability", capability)
            report.member("jmapApiUrl", mailServer?.apiURL)
            report.member("jmapAccountId", mailServer?.accountID)
            report.member("remark", remark)
        }
        return String(decoding: object, as: UTF8.self)
    }
}
