import Testing

@testable import AuthStorage

@Suite struct PostgresURLTests {
    @Test(arguments: [
        ("postgresql://h/d", "postgresql://h/d"),
        ("postgres://u@h/d", "postgres://u@h/d"),
        ("postgresql://u:pw@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:p@w:x@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u:p/w?x@h/d", "postgresql://u:***@h/d"),
        (
            "postgresql://u:pw@a:5432,b:5433/d?target_session_attrs=read-write",
            "postgresql://u:***@a:5432,b:5433/d?target_session_attrs=read-write"
        ),
        (
            "postgresql://h:1,i:2/d?sslmode=verify-full",
            "postgresql://h:1,i:2/d?sslmode=verify-full"
        ),
        ("postgresql:///d?password=pw&user=u", "postgresql:///d?password=***&user=u"),
        ("postgresql:///d?user=u&PassWord=pw", "postgresql:///d?user=u&PassWord=***"),
        ("postgresql:///d?sslpassword=p=w", "postgresql:///d?sslpassword=***"),
        // Not URLs, but they may have been meant as such.
        ("u:pw@h", "u:***@h"), ("postgres//u:pw@h", "postgres//u:***@h"),
        ("sqlite:a.db", "sqlite:a.db"),
    ])
    func passwordsAreHidden(text: String, shown: String) {
        #expect(PostgresURL.hidingPasswords(in: text) == shown)
    }

    @Test func severalHostsAndParametersArePassedOnUnchanged() throws {
        let text = "postgresql://a:5432,b:5433/d?target_session_attrs=read-write&connect_timeout=9"
        #expect(try #require(PostgresURL(text)).text == text)
        #expect(try Database(url: text).url == text)
    }

    @Test(arguments: ["", "postgresql:h", "mysql://h/d", "postgresql://h/a b", "postgresql://h/\n"])
    func otherTextsAreNotURLs(text: String) {
        #expect(PostgresURL(text) == nil)
    }

    @Test func errorsDoNotShowPasswords() throws {
        let error = #expect(throws: DatabaseURLError.self) { try Database(url: "u:pw@h") }
        #expect(error?.description.contains("pw") == false)
        #expect(try Database(url: "postgresql://u:pw@h/d").name == "postgresql://u:***@h/d")
    }
}
