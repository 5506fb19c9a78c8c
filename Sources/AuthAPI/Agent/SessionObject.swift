internal import HTTPEngine
internal import StrictJSON

/// The session object (RFC 8620 §2) of a caller who has one account.
struct SessionObject {
    let accountID: String
    let address: String
    /// Changes exactly when another member of the object changes.
    let state: String
    let baseURL: String
    /// Below ``baseURL``.
    let paths: JMAPDirectory.Paths
    /// The capabilities for which the account is the primary one.
    let primary: [String]

    /// - Parameters:
    ///   - capabilities: writes the members of `capabilities`.
    ///   - accountCapabilities: writes the members of the account's `accountCapabilities`.
    func response(
        capabilities: (inout JSONWriter) -> Void, accountCapabilities: (inout JSONWriter) -> Void
    ) -> Response {
        .json(.ok) { session in
            session.member("capabilities", capabilities)
            session.member("accounts") { accounts in
                accounts.member(accountID) { account in
                    account.member("name", address)
                    account.member("isPersonal", true)
                    account.member("isReadOnly", false)
                    account.member("accountCapabilities", accountCapabilities)
                }
            }
            session.member("primaryAccounts") { accounts in
                for capability in primary { accounts.member(capability, accountID) }
            }
            session.member("username", address)
            session.member("apiUrl", baseURL + paths.api)
            session.member("downloadUrl", baseURL + paths.download)
            session.member("uploadUrl", baseURL + paths.upload)
            session.member("eventSourceUrl", baseURL + paths.eventSource)
            session.member("state", state)
        }
    }
}
