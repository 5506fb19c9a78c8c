extension ProviderLogins {
    /// What a browser brings back from a provider.
    public struct Callback: Sendable {
        /// ``Begun/token``; `nil` if the browser has none.
        public let token: String?
        public let state: String?
        public let code: String?
        /// `error` of RFC 6749 §4.1.2.1.
        public let error: String?
        /// `iss` of RFC 9207.
        public let issuer: String?

        public init(
            token: String?, state: String?, code: String?, error: String?, issuer: String?
        ) {
            self.token = token
            self.state = state
            self.code = code
            self.error = error
            self.issuer = issuer
        }
    }
}
