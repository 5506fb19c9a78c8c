import Cryptography
import Networking
import StrictJSON
import TestSupport
import Testing

@testable import IdentityProviders

/// The requests of a sign-in, and what is made of the answers.
struct ProviderClientTests {
    private static let now: Int64 = 1_700_000_000
    private let start = ContinuousClock.now
    private let provider: SoftProvider
    private let client: ProviderClient
    private let ada = SoftProvider.Person("ada", "ada@example.com")

    init() throws {
        provider = try SoftProvider { Self.now }
        client = ProviderClient(SoftProvider.settings(), transport: provider)
    }

    private func signIn(_ secret: UInt8 = 1, after time: Duration = .zero) -> ProviderClient.SignIn
    {
        ProviderClient.SignIn(
            secrets: SignInSecrets(secret: [UInt8](repeating: secret, count: 32)),
            redirectURI: "https://auth.test/callback", client: IPAddress(v4: 1), now: Self.now,
            arrival: start + time)
    }

    private func identity(
        of person: SoftProvider.Person? = nil, issuer: String? = nil,
        at time: Duration = .zero, as client: ProviderClient? = nil
    ) async throws(ProviderError) -> ProviderIdentity {
        let client = client ?? self.client
        let signIn = signIn(after: time)
        let url = try await client.authorizationURL(signIn)
        let code = provider.signIn(person ?? ada, at: url).code
        return try await client.identity(code: code, issuer: issuer, signIn)
    }

    private func error(
        issuer: String? = nil, at time: Duration = .zero, as client: ProviderClient? = nil
    ) async -> ProviderError? {
        do throws(ProviderError) {
            _ = try await identity(issuer: issuer, at: time, as: client)
            return nil
        } catch {
            return error
        }
    }

    @Test func theBrowserIsSentWithAllThatBindsTheAnswer() async throws {
        let signIn = signIn()
        let url = try await client.authorizationURL(signIn)
        #expect(url.hasPrefix("https://id.test/authorize?response_type=code&client_id=client-1&"))
        let query = SoftProvider.query(of: url)
        #expect(query["redirect_uri"] == "https://auth.test/callback")
        #expect(query["scope"] == "openid email")
        #expect(query["code_challenge_method"] == "S256")
        #expect(query["state"] == signIn.secrets.state)
        #expect(query["nonce"] == signIn.secrets.nonce)
        #expect(query["code_challenge"] == SignInSecrets.challenge(of: signIn.secrets.verifier))
        let values = [signIn.secrets.state, signIn.secrets.nonce, signIn.secrets.verifier]
        #expect(Set(values).count == 3 && values.allSatisfy { $0.utf8.count == 43 })
        #expect(!url.contains(signIn.secrets.verifier))
    }

    /// RFC 7636, appendix B.
    @Test func theChallengeIsThatOfTheSpecification() {
        #expect(
            SignInSecrets.challenge(of: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
                == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test func whoHasSignedInIsKnownByTheIDToken() async throws {
        let identity = try await identity()
        #expect(identity.subject == "ada" && identity.isEmailVerified)
        #expect(
            provider.paths == ["/.well-known/openid-configuration", "/token", "/keys"])
        // The documents are kept.
        _ = try await self.identity()
        #expect(provider.paths.suffix(1) == ["/token"])
    }

    @Test func theSecretMayBeInTheForm() async throws {
        provider.change {
            $0.metadata = [
                "token_endpoint_auth_methods_supported": .array([.string("client_secret_post")])
            ]
        }
        #expect(try await identity().subject == "ada")
        let request = try #require(provider.requests.first { $0.form != nil })
        #expect(!request.headers.contains { $0.name == "Authorization" })
    }

    @Test func anEmailMayComeFromTheUserInfo() async throws {
        provider.change { $0.hidesEmail = true }
        let identity = try await identity()
        #expect(identity.email == "ada@example.com" && identity.isEmailVerified)
        provider.change { $0.userInfoSubject = "eve" }
        #expect(await error() == .invalid("the user info is of another subject"))
        provider.change { $0.metadata = ["userinfo_endpoint": .null] }
        #expect(try await self.identity(at: .seconds(4000)).email == nil)
    }

    @Test(arguments: [
        (404, false), (302, false), (201, false), (500, true), (503, true), (429, true),
    ])
    func anErrorIsNoDocument(status: Int, isUnavailable: Bool) async {
        provider.change {
            $0.hidesEmail = true
            $0.answers["/userinfo"] = (status, Array(#"{"sub":"ada"}"#.utf8))
        }
        let cause = "the request for user info was answered \(status)"
        #expect(await error() == (isUnavailable ? .unavailable(cause) : .invalid(cause)))
    }

    @Test func anotherSignInsCodeIsNotTaken() async throws {
        let url = try await client.authorizationURL(signIn(1))
        let code = provider.signIn(ada, at: url).code
        // An attacker's browser has another verifier.
        await #expect(throws: ProviderError.invalid("the token endpoint answered invalid_grant")) {
            try await client.identity(code: code, issuer: nil, signIn(2))
        }
    }

    @Test func theIssuerOfTheAnswerIsChecked() async throws {
        #expect(await error(issuer: "https://id.test") == nil)
        #expect(await error(issuer: "https://evil.test") != nil)
        // Nothing was sent to the provider with the other one's code.
        #expect(provider.paths.filter { $0 == "/token" }.count == 1)
        provider.change {
            $0.metadata = ["authorization_response_iss_parameter_supported": .bool(true)]
        }
        #expect(await error(at: .seconds(3600)) != nil)
        #expect(await error(issuer: "https://id.test", at: .seconds(3600)) == nil)
    }

    @Test func keysAreFetchedAgainForOneThatIsNew() async throws {
        _ = try await identity()
        let next = try PrivateKey.generate(.edDSA)
        provider.change {
            $0.key = next
            $0.keyID = "k2"
        }
        #expect(try await identity(at: .seconds(1)).subject == "ada")
        #expect(provider.paths.filter { $0 == "/keys" }.count == 2)
    }

    @Test func keysThatNobodyHasAreFetchedOnceAMinute() async throws {
        _ = try await identity()
        provider.change { $0.header = ["kid": .string("unknown")] }
        for _ in 0..<5 { #expect(await error(at: .seconds(1)) != nil) }
        #expect(provider.paths.filter { $0 == "/keys" }.count == 2)
        #expect(await error(at: .seconds(62)) != nil)
        #expect(provider.paths.filter { $0 == "/keys" }.count == 3)
    }

    @Test func documentsAreUsedForADayWhileTheyCannotBeFetched() async throws {
        _ = try await identity()
        provider.change { $0.unreachable = ["/.well-known/openid-configuration", "/keys"] }
        #expect(await error(at: .seconds(86_399)) == nil)
        #expect(await error(at: .seconds(86_400)) == .unavailable("not reached"))
        provider.change { $0.unreachable = [] }
        #expect(await error(at: .seconds(86_400)) == nil)
    }

    @Test func whoAsksAtOnceSharesAFetch() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...20 {
                group.addTask { _ = try await client.authorizationURL(signIn(UInt8(number))) }
            }
            try await group.waitForAll()
        }
        #expect(provider.paths.count == 1)
    }

    @Test(
        arguments: [
            (500, "", false), (503, "{}", false), (400, #"{"error":"invalid_client"}"#, true),
            (401, "nonsense", true), (200, #"{"error":"bad_verification_code"}"#, true),
            (200, "{}", true), (200, #"{"access_token":"a","token_type":"mac"}"#, true),
            (200, #"{"access_token":"a b","token_type":"bearer"}"#, true),
            (200, #"{"access_token":"a","token_type":"bearer"}"#, true),
            (200, #"{"access_token":"a","token_type":"bearer","id_token":"a.b.c"}"#, true),
            (302, "{}", true),
        ])
    func aWrongTokenResponseIsNone(status: Int, body: String, isInvalid: Bool) async {
        provider.change { $0.answers["/token"] = (status, Array(body.utf8)) }
        switch await error() {
        case .invalid: #expect(isInvalid)
        case .unavailable: #expect(!isInvalid)
        default: Issue.record("no error")
        }
    }

    @Test func gitHubNamesTheUserByNumber() async throws {
        let client = ProviderClient(
            SoftProvider.settings(SoftProvider.gitHub), transport: provider)
        let identity = try await identity(
            of: SoftProvider.Person("583231", "ada@example.com"), as: client)
        #expect(
            identity
                == ProviderIdentity(
                    subject: "583231", email: "ada@example.com", isEmailVerified: true))
        #expect(provider.paths == ["/login/oauth/access_token", "/user", "/user/emails"])
        let unverified = try await self.identity(
            of: SoftProvider.Person("583231", "ada@example.com", isVerified: false), as: client)
        #expect(!unverified.isEmailVerified)
    }

    @Test(
        arguments: [
            ("/user", "{}"), ("/user", #"{"id":"583231"}"#), ("/user", #"{"id":0}"#),
            ("/user", "[]"), ("/user/emails", "{}"), ("/user/emails", "nonsense"),
        ])
    func aWrongUserOfGitHubIsNone(path: String, body: String) async {
        let client = ProviderClient(
            SoftProvider.settings(SoftProvider.gitHub), transport: provider)
        provider.change { $0.answers[path] = (200, Array(body.utf8)) }
        #expect(await error(as: client) != nil)
    }
}
