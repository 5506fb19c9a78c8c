public import Networking

/// Signs people in at one provider: sends them there, and finds out who came back.
public final class ProviderClient: Sendable {
    /// Sends requests to providers.
    public protocol Transport: Sendable {
        /// Whether a URL may be asked, and browsers sent to it.
        func accepts(_ url: String) -> Bool

        /// - Parameter client: whose sign-in it is.
        /// - Returns: the response, whatever its status.
        /// - Throws: ``ProviderError/unavailable(_:)``.
        func send(
            _ request: ProviderRequest, for client: IPAddress
        ) async throws(ProviderError) -> (status: Int, body: [UInt8])
    }

    /// One sign-in.
    public struct SignIn: Sendable {
        public let secrets: SignInSecrets
        /// Where the provider sends the browser back to.
        public let redirectURI: String
        public let client: IPAddress
        /// Seconds since 1970.
        public let now: Int64
        public let arrival: ContinuousClock.Instant

        public init(
            secrets: SignInSecrets, redirectURI: String, client: IPAddress, now: Int64,
            arrival: ContinuousClock.Instant
        ) {
            self.secrets = secrets
            self.redirectURI = redirectURI
            self.client = client
            self.now = now
            self.arrival = arrival
        }
    }

    public let settings: ProviderSettings
    private let transport: any Transport
    private let metadata = CachedDocument<ProviderMetadata>()
    private let keys = CachedDocument<KeySet>()

    public init(_ settings: ProviderSettings, transport: any Transport) {
        self.settings = settings
        self.transport = transport
    }

    /// The URL to send the browser to.
    public func authorizationURL(_ signIn: SignIn) async throws(ProviderError) -> String {
        switch settings.kind {
        case .openID(let issuer):
            return try await metadata(of: issuer, signIn).authorizationURL(
                settings, signIn.secrets, redirectURI: signIn.redirectURI)
        case .gitHub(let site, _):
            return AuthorizationRequest.url(
                site + "/login/oauth/authorize", settings, signIn.secrets,
                redirectURI: signIn.redirectURI)
        }
    }

    /// Fetches what sign-ins begin with and are verified by.
    /// - Throws: why no sign-in would succeed.
    public func check(_ signIn: SignIn) async throws(ProviderError) {
        guard case .openID(let issuer) = settings.kind else { return }
        let metadata = try await metadata(of: issuer, signIn)
        _ = try await keys.value(at: signIn.arrival, fetchingKeys(metadata.keySetURL, signIn))
    }

    /// Finds out who has signed in.
    /// - Parameters:
    ///   - code: what the browser brought from the provider.
    ///   - issuer: who the provider says it is (RFC 9207), if it does.
    public func identity(
        code: String, issuer: String?, _ signIn: SignIn
    ) async throws(ProviderError) -> ProviderIdentity {
        switch settings.kind {
        case .openID(let expected):
            return try await identity(at: expected, code, from: issuer, signIn)
        case .gitHub(let site, let api): return try await identity(at: site, api, code, signIn)
        }
    }

    /// Checks who the provider says it is, before anything that came with it is used: a code of
    /// another provider must not be sent to this one (RFC 9207 §2.4).
    public func checkIssuer(
        _ issuer: String?, _ signIn: SignIn
    ) async throws(ProviderError) {
        guard case .openID(let expected) = settings.kind else { return }
        let isRequired = try await metadata(of: expected, signIn).sendsIssuer
        guard issuer?.hasBytes(of: expected) ?? !isRequired else {
            throw .invalid("another provider than \(expected) has answered")
        }
    }

    private func identity(
        at expected: String, _ code: String, from issuer: String?, _ signIn: SignIn
    ) async throws(ProviderError) -> ProviderIdentity {
        try await checkIssuer(issuer, signIn)
        let metadata = try await metadata(of: expected, signIn)
        let tokens = try await tokens(
            metadata.tokenEndpoint, code, metadata.authentication(for: settings), signIn)
        guard let text = tokens.idToken else { throw .invalid("there is no ID token") }
        let token = try IDToken(text)
        let identity = try token.verified(
            by: try await keys(for: token, metadata.keySetURL, signIn),
            IDToken.Expectation(
                issuer: expected, clientID: settings.clientID, nonce: signIn.secrets.nonce,
                now: signIn.now))
        guard identity.email == nil, let endpoint = metadata.userInfoEndpoint else {
            return identity
        }
        return try await userInfo(endpoint, tokens.accessToken, of: identity, signIn)
    }

    /// Asks for the email, which many providers do not put into the ID token.
    private func userInfo(
        _ endpoint: String, _ token: String, of identity: ProviderIdentity, _ signIn: SignIn
    ) async throws(ProviderError) -> ProviderIdentity {
        let body = try await body(
            .get(endpoint, with: token, atMost: ProviderLimits.userInfo), "user info", signIn)
        let found = try UserInfo.identity(body)
        // OpenID Connect Core §5.3.2: else it may be of somebody else.
        guard found.subject.hasBytes(of: identity.subject) else {
            throw .invalid("the user info is of another subject")
        }
        return found
    }

    private func identity(
        at site: String, _ api: String, _ code: String, _ signIn: SignIn
    ) async throws(ProviderError) -> ProviderIdentity {
        let tokens = try await tokens(site + "/login/oauth/access_token", code, .post, signIn)
        func body(_ path: String) async throws(ProviderError) -> [UInt8] {
            try await self.body(
                .get(api + path, with: tokens.accessToken, atMost: ProviderLimits.userInfo), path,
                signIn)
        }
        return try GitHubUser.identity(
            user: try await body("/user"), emails: try await body("/user/emails"))
    }

    private func tokens(
        _ endpoint: String, _ code: String, _ method: ClientAuthentication, _ signIn: SignIn
    ) async throws(ProviderError) -> TokenResponse {
        let response = try await transport.send(
            .token(
                endpoint, code: code, redirectURI: signIn.redirectURI,
                verifier: signIn.secrets.verifier, for: settings, authenticating: method),
            for: signIn.client)
        return try TokenResponse(status: response.status, response.body)
    }

    /// The provider's keys; fetched again if the token names one that they lack.
    private func keys(
        for token: IDToken, _ url: String, _ signIn: SignIn
    ) async throws(ProviderError) -> KeySet {
        let fetch = fetchingKeys(url, signIn)
        let set = try await keys.value(at: signIn.arrival, fetch)
        if token.isSigned(byKeyOf: set) { return set }
        return try await keys.newerValue(at: signIn.arrival, fetch) ?? set
    }

    private func fetchingKeys(
        _ url: String, _ signIn: SignIn
    ) -> @Sendable () async throws(ProviderError) -> KeySet {
        { () async throws(ProviderError) in
            try KeySet(
                try await self.body(.get(url, atMost: ProviderLimits.keySet), "key set", signIn))
        }
    }

    private func metadata(
        of issuer: String, _ signIn: SignIn
    ) async throws(ProviderError) -> ProviderMetadata {
        try await metadata.value(at: signIn.arrival) { () async throws(ProviderError) in
            try ProviderMetadata(
                try await self.body(
                    .get(ProviderMetadata.url(of: issuer), atMost: ProviderLimits.metadata),
                    "metadata", signIn), of: issuer, isUsable: self.transport.accepts)
        }
    }

    /// - Parameter name: what is asked for, for errors.
    private func body(
        _ request: ProviderRequest, _ name: String, _ signIn: SignIn
    ) async throws(ProviderError) -> [UInt8] {
        let response = try await transport.send(request, for: signIn.client)
        guard response.status == 200 else {
            let cause = "the request for \(name) was answered \(response.status)"
            throw response.status >= 500 || response.status == 429
                ? .unavailable(cause) : .invalid(cause)
        }
        return response.body
    }
}
