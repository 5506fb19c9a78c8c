internal import AuthCore
internal import StrictJSON

/// What a signup came to, for people and for programs.
struct SignupReport: Sendable {
    let credentials: Credentials
    /// Where they were written.
    let path: String?
    var capability: String?
    var mailStore: MailStore?
    /// Why there is no mail store in here; the account exists all the same.
    var remark: String?

    init(_ credentials: Credentials, path: String?) {
        self.credentials = credentials
        self.path = path
    }

    /// Goes the rest of the way: capability token and JMAP session object. A failure there is a
    /// remark, because the signup itself has succeeded.
    func completed(by client: AgentClient, session: String) async -> SignupReport {
        var report = self
        do {
            let capability = try await client.capability(session: session)
            report.capability = capability
            report.mailStore = try await client.mailStore(capability: capability)
        } catch {
            report.remark = "\(error)"
        }
        return report
    }

    var text: String {
        let enrolment = credentials.enrolment
        var lines = [
            "signed up \(enrolment.inbox.printable())",
            "  account      \(enrolment.accountID.printable())",
        ]
        if let path { lines.append("  credentials  \(path) (holds the API key; keep it safe)") }
        if let mailStore { lines.append("  JMAP         \(mailStore.apiURL.printable())") }
        if let remark { lines.append("  JMAP         not reached: \(remark)") }
        return lines.joined(separator: "\n")
    }

    /// One object: the members of the credentials file, then what leads to the mail.
    var json: String {
        let object = JSONWriter.object { report in
            report.member("server", credentials.server.text)
            report.member("inbox", credentials.enrolment.inbox)
            report.member("accountId", credentials.enrolment.accountID)
            report.member("apiKey", credentials.enrolment.apiKey)
            report.member("createdAt", credentials.created.rfc3339)
            report.member("credentialsFile", path)
            report.member("capability", capability)
            report.member("jmapApiUrl", mailStore?.apiURL)
            report.member("jmapAccountId", mailStore?.accountID)
            report.member("remark", remark)
        }
        return String(decoding: object, as: UTF8.self)
    }
}
