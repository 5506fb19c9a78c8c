internal import StrictJSON

/// The answer of a UserInfo endpoint (OpenID Connect Core §5.3.2), as JSON. Signed answers are not
/// asked for.
public enum UserInfo {
    public static func identity(_ document: [UInt8]) throws(ProviderError) -> ProviderIdentity {
        try JSONObject(document, of: "the user info").identity()
    }
}
