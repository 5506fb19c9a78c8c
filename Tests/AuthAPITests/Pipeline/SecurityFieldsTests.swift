import AuthAPI
import Testing

struct SecurityFieldsTests {
    @Test func everyResponseForbidsSniffingScriptsAndFrames() {
        let fields = SecurityFields.all
        #expect(fields.first { $0.name == "X-Content-Type-Options" }?.value == "nosniff")
        let policy = fields.first { $0.name == "Content-Security-Policy" }?.value
        #expect(policy == "default-src 'none'; frame-ancestors 'none'")
        #expect(!fields.contains { $0.name == "Strict-Transport-Security" })
    }

    @Test func transportSecurityIsForHTTPSOnly() {
        func isStrict(_ url: String) -> Bool {
            SecurityFields.overTLS(publicURL: url).map(\.name) == ["Strict-Transport-Security"]
        }
        #expect(isStrict("https://auth.test") && !isStrict("http://auth.test"))
    }
}
