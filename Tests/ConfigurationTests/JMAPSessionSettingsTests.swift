import AuthCore
import Fetching
import Testing

@testable import Configuration

@Suite struct JMAPSessionSettingsTests {
    private func load(_ text: String) throws -> MailSection {
        try loader(file: "[mail]\n" + text).load().config.mail
    }

    @Test func theObjectIsConfiguredUnlessItIsFetched() throws {
        #expect(try load("").proxiedStoreURL == nil)
        #expect(try load("jmap_url = \"https://m.test\"").proxiedStoreURL == nil)
    }

    @Test func theStoreIsFetchedFromAtItsOwnURLOrAtThatOfTheClients() throws {
        let proxied = "jmap_session = \"proxy\"\njmap_url = \"https://m.test\"\n"
        #expect(try load(proxied).proxiedStoreURL?.text == "https://m.test")
        #expect(
            try load(proxied + "jmap_store_url = \"http://127.0.0.1:8008/\"").proxiedStoreURL?.text
                == "http://127.0.0.1:8008")
    }

    @Test func fetchingNeedsAMailStore() {
        for more in ["", "\njmap_store_url = \"http://127.0.0.1:8008\""] {
            let found = faults(loader(file: "[mail]\njmap_session = \"proxy\"" + more))
            #expect(found.count == 1)
            #expect(found.first?.contains("mail.jmap_session: is \"proxy\", but there") == true)
        }
    }

    @Test(arguments: ["/a|b", "/%zz", "/{x}"])
    func aPathThatCannotBeFetchedIsAFault(path: String) {
        let text = """
            [mail]
            jmap_session = "proxy"
            jmap_url = "https://m.test"
            jmap_session_path = "\(path)"
            """
        #expect(faults(loader(file: text)).count == 1)
    }

    @Test func theRulesAllowPrivateAddressesAndHTTPInEveryProfile() throws {
        let rules = try load("jmap_ca_file = \"/ca.pem\"").storeRules(areShared: true)
        #expect(rules.allowsHTTP && rules.allowsPrivateNetworks && rules.ports == .any)
        #expect(rules.certificateFile == "/ca.pem" && rules.limits.bodyBytes == 65_536)
        #expect(rules.limits.perClient < rules.limits.perTarget)
    }

    @Test(arguments: ["0", "-1", "9007199254740992", "\"5\"", "1.5"])
    func aLimitIsAnUnsignedIntOfJMAP(value: String) {
        #expect(faults(loader(file: "[mail]\njmap_max_size_upload = \(value)")).count == 1)
    }
}
