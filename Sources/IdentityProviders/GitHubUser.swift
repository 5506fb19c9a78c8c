internal import StrictJSON

/// A user of GitHub: `GET /user` and `GET /user/emails` of its REST API.
enum GitHubUser {
    /// - Parameters:
    ///   - user: its `id` is the subject. `login` is not: a user can change it, and another one
    ///     take it.
    ///   - emails: the primary one is the email.
    static func identity(
        user: [UInt8], emails: [UInt8]
    ) throws(ProviderError) -> ProviderIdentity {
        let members = try JSONObject(user, of: "the user")
        guard case .integer(let id)? = members["id"], id > 0 else {
            throw .invalid("the user has no id")
        }
        guard case .array(let list)? = try? JSONValue.parse(emails) else {
            throw .invalid("the emails of the user are not a JSON array")
        }
        let primary = list.lazy.compactMap(\.object).first { $0["primary"]?.bool == true }
        return ProviderIdentity(
            subject: String(id), email: primary?.string("email"),
            isEmailVerified: primary?["verified"]?.bool == true)
    }
}
