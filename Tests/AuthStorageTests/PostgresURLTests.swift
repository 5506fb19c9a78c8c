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

    @Test(arguments: [
        ("postgresql://db.example/d", true), ("postgresql://u:p@10.0.0.1:5432/d", true),
        ("postgresql://127.0.0.1,db.example/d", true), ("postgresql:///d?host=db.example", true),
        ("postgresql://db.example/d?sslmode=require", true),
        ("postgresql://db.example/d?application_name=sslmode=verify-full", true),
        ("postgresql://localhost/d?hostaddr=10.0.0.1", true),
        ("postgresql://db.example/d?sslmode=verify-full&connect_timeout=2", false),
        ("postgresql:///d", false), ("postgresql:///d?host=/run/postgresql", false),
        ("postgresql://%2Frun%2Fpostgresql/d", false), ("postgresql://u:p@localhost:1/d", false),
        ("postgresql://127.0.0.1:5432,[::1]:5433/d", false), ("postgresql://?user=u", false),
    ])
    func aServerOnAnotherMachineIsExposedUnlessItIsVerified(text: String, isExposed: Bool) throws {
        #expect(try Database(url: text).isExposed == isExposed)
    }

    @Test func errorsDoNotShowPasswords() throws {
        let error = #expect(throws: DatabaseURLError.self) { try Database(url: "u:pw@h") }
        #expect(error?.description.contains("pw") == false)
        #expect(try Database(url: "postgresql://u:pw@h/d").name == "postgresql://u:***@h/d")
    }
}
