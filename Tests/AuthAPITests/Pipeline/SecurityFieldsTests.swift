import AuthAPI
import Testing

struct SecurityFieldsTests {
    @Test func everyResponseForbidsSniffingScriptsAndFrames() {
        let fields = SecurityFields.all
        #expect(fields.first { $0.name == "X-Content-Type-Options" }?.value == "nosniff")
        let policy = fields.first { $0.name == "Content-Security-Policy" }?.value
        #expect(policy == "default-src 'none'; frame-ancestors 'none'")
        let resources = fields.first { $0.name == "Cross-Origin-Resource-Policy" }?.value
        #expect(resources == "same-origin")
        #expect(!fields.contains { $0.name == "Strict-Transport-Security" })
    }

    @Test func transportSecurityAndWindowsOfTheirOwnAreForHTTPSOnly() {
        #expect(
            SecurityFields.overTLS(publicURL: "https://auth.test").map(\.name)
                == ["Strict-Transport-Security", "Cross-Origin-Opener-Policy"])
        #expect(SecurityFields.overTLS(publicURL: "http://auth.test").isEmpty)
    }
}
