import AuthAPI
import Testing

struct SecurityFieldsTests {
    @Test func everyResponseForbidsSniffingScriptsAndFrames() {
        for url in ["http://127.0.0.1:8080", "https://auth.test"] {
            let fields = SecurityFields.all(publicURL: url)
            #expect(fields.first { $0.name == "X-Content-Type-Options" }?.value == "nosniff")
            let policy = fields.first { $0.name == "Content-Security-Policy" }?.value
            #expect(policy == "default-src 'none'; frame-ancestors 'none'")
        }
    }

    @Test func transportSecurityIsForHTTPSOnly() {
        func isStrict(_ url: String) -> Bool {
            SecurityFields.all(publicURL: url).contains { $0.name == "Strict-Transport-Security" }
        }
        #expect(isStrict("https://auth.test") && !isStrict("http://auth.test"))
    }
}
