import StrictJSON
import Testing

@testable import AuthAPI

/// The mail store's session object as clients get it.
struct StoreSessionTests {
    private static let urls = StoreURLs(
        store: "http://127.0.0.1:8008", clients: "https://mail.test")

    /// As Cyrus IMAP gives it: paths in the place of URLs.
    static let object = #"""
        {"username":"a@mail.test","apiUrl":"/jmap/","downloadUrl":"/jmap/d/{accountId}?a={type}",
        "uploadUrl":"/jmap/upload/{accountId}/","eventSourceUrl":"/jmap/eventsource/?t={types}",
        "state":"17","capabilities":{"urn:ietf:params:jmap:core":{"maxSizeUpload":1073741824,
        "ratio":0.5,"none":null,"collationAlgorithms":[]},
        "urn:ietf:params:jmap:websocket":{"url":"wss:/jmap/ws/","supportsPush":true}},
        "accounts":{"a@mail.test":{"name":"é \u0001","accountCapabilities":
        {"urn:ietf:params:jmap:mail":{"maxMailboxDepth":null}}}},
        "primaryAccounts":{"urn:ietf:params:jmap:mail":"a@mail.test"},"extra":[1,-2,{"x":"y"}]}
        """#

    private func parsed(_ text: String) throws -> JSONObject {
        try #require(try JSONValue.parse(Array(text.utf8)).object)
    }

    @Test func everythingButTheURLsIsAsTheStoreGaveIt() throws {
        let session = try StoreSession(Array(Self.object.utf8), urls: Self.urls)
        let given = try parsed(Self.object)
        let written = try parsed(String(decoding: session.body, as: UTF8.self))
        #expect(written.names == given.names)
        for name in ["username", "state", "accounts", "primaryAccounts", "extra"] {
            #expect(written[name] == given[name], "\(name)")
        }
        let core = "urn:ietf:params:jmap:core"
        #expect(
            written.object("capabilities")?[core] == given.object("capabilities")?[core])
        #expect(session.hasMail)
    }

    @Test func pathsBecomeURLsThatClientsReach() throws {
        let session = try StoreSession(Array(Self.object.utf8), urls: Self.urls)
        let written = try parsed(String(decoding: session.body, as: UTF8.self))
        #expect(written.text("apiUrl") == "https://mail.test/jmap/")
        #expect(written.text("downloadUrl") == "https://mail.test/jmap/d/{accountId}?a={type}")
        #expect(written.text("uploadUrl") == "https://mail.test/jmap/upload/{accountId}/")
        #expect(written.text("eventSourceUrl") == "https://mail.test/jmap/eventsource/?t={types}")
        let webSocket = written.object("capabilities")?.object("urn:ietf:params:jmap:websocket")
        #expect(webSocket?.text("url") == "wss://mail.test/jmap/ws/")
        #expect(webSocket?["supportsPush"] == .bool(true))
    }

    @Test(arguments: [
        ("/jmap/", "https://mail.test/m/jmap/"),
        ("http://127.0.0.1:8008/store/jmap/", "https://mail.test/m/jmap/"),
        ("http://127.0.0.1:8008/store", "https://mail.test/m"),
        ("http://127.0.0.1:8008/store?x=1", "https://mail.test/m?x=1"),
        // Another path on the same host, and another port that begins with the same digits.
        ("http://127.0.0.1:8008/storehouse/", "http://127.0.0.1:8008/storehouse/"),
        ("/store/jmap/", "https://mail.test/m/jmap/"),
        ("/storehouse/", "https://mail.test/m/storehouse/"),
        ("https://jmap.example.org/api", "https://jmap.example.org/api"),
        ("jmap/", nil), ("//example.org/jmap/", nil), ("ftp://example.org/", nil), ("", nil),
        ("/a b", nil), ("/\u{e9}", nil), ("javascript:alert(1)", nil),
        ("/" + String(repeating: "a", count: 2048), nil),
    ])
    func aURLIsPutBelowThatOfTheClients(url: String, expected: String?) {
        let urls = StoreURLs(store: "http://127.0.0.1:8008/store", clients: "https://mail.test/m")
        #expect(urls.forClients(url) == expected)
    }

    @Test(arguments: [
        ("wss:/jmap/ws/", "wss://mail.test/jmap/ws/"), ("ws:/w", "wss://mail.test/w"),
        ("ws://127.0.0.1:8008/w", "wss://mail.test/w"), ("wss://x.test/w", "wss://x.test/w"),
        ("https://x.test/w", nil), ("wss:w", nil),
    ])
    func aWebSocketHasTheSchemeOfTheClientsURL(url: String, expected: String?) {
        #expect(Self.urls.webSocketForClients(url) == expected)
        let plain = StoreURLs(store: Self.urls.store, clients: "http://mail.test")
        #expect(plain.webSocketForClients("wss:/w") == "ws://mail.test/w")
    }

    @Test(arguments: [
        "", "[]", "null", "{", "{}", "<html>", Self.object + "x",
        Self.object.replacing(#""apiUrl":"/jmap/""#, with: #""apiUrl":"jmap/""#),
        Self.object.replacing(#""apiUrl":"/jmap/""#, with: #""apiUrl":1"#),
        Self.object.replacing(#""apiUrl":"/jmap/","#, with: ""),
        Self.object.replacing(#""state":"17""#, with: #""state":17"#),
        Self.object.replacing(#""username":"#, with: #""user":"#),
        Self.object.replacing(#""accounts":{"#, with: #""accounts":[],"b":{"#),
        Self.object.replacing(#""capabilities":"#, with: #""c":"#),
    ])
    func whatIsNoSessionObjectIsAnErrorThatNamesTheMember(text: String) {
        #expect(throws: StoreSession.Unusable.self) {
            try StoreSession(Array(text.utf8), urls: Self.urls)
        }
    }

    @Test(arguments: [
        object.replacing(#"{"urn:ietf:params:jmap:mail":"a@mail.test"}"#, with: "{}"),
        object.replacing(#":"a@mail.test"},"#, with: #":"b@mail.test"},"#),
        // As Cyrus IMAP gives it while there is no mailbox.
        object.replacing(#"{"urn:ietf:params:jmap:mail":{"maxMailboxDepth":null}}"#, with: "null"),
    ])
    func thereIsNoMailWithoutAnAccountThatHasIt(text: String) throws {
        #expect(text != Self.object)
        #expect(try !StoreSession(Array(text.utf8), urls: Self.urls).hasMail)
    }
}
