import Testing

@testable import Configuration

@Suite struct ConfigFileTests {
    private func shown(_ text: String) -> [String] {
        ConfigFile.layer(of: text, path: "f").faults.map(\.shown)
    }

    @Test func aSyntaxErrorIsReportedWithItsLine() {
        let found = shown("[server]\nport = = 1\n")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("f:2: file: is not TOML: ") == true)
    }

    @Test func everyUnknownKeyIsAFaultWithItsLine() {
        #expect(
            shown("[server]\n\nprot = 1\n[mial]\ndomains = []\n[mail]\nzzzzzzzzzz = 1") == [
                "f:7: mail.zzzzzzzzzz: no such setting; [mail] has domains, subaddress_delimiter, "
                    + "reserved_local_parts, exchanger, store, local_smtp, local_limit, jmap_url, "
                    + "jmap_api_path, jmap_upload_path, jmap_download_path, jmap_event_source_path, jmap_session, jmap_store_url, "
                    + "jmap_session_path, jmap_session_timeout, jmap_session_cache, jmap_ca_file, "
                    + "jmap_max_size_upload, jmap_max_concurrent_upload, jmap_max_size_request, "
                    + "jmap_max_concurrent_requests, jmap_max_calls_in_request, "
                    + "jmap_max_objects_in_get, jmap_max_objects_in_set, subject",
                "f:4: mial: no such setting; the sections are accounts, audit, dns, hash_login, keys, "
                    + "limits, log, mail, mailer, passwords, pow, provisioning, server, services, storage, "
                    + "testing, tls, tokens, users, webhooks",
                "f:3: server.prot: no such setting; did you mean server.port?",
            ])
    }

    @Test func aSectionIsNotASettingAndASettingIsNotASection() {
        #expect(
            shown("server = 1") == [
                "f:1: server: is a section, not a setting; write [server] and its settings below it"
            ])
        #expect(faults(loader(file: "[server.port]\nx = 1")).count == 1)
    }

    @Test func dottedKeysAndInlineTablesAreRead() {
        let layer = ConfigFile.layer(
            of: "server.port = 1\nmail = { subject = \"address\" }", path: "")
        #expect(layer.entries["server.port"]?.raw == .integer(1))
        #expect(layer.entries["mail.subject"]?.raw == .string("address"))
    }

    @Test func aNULIsAFaultAndHidesNothing() {
        #expect(shown("[server]\n\u{0}\nport = 1").count == 1)
    }

    @Test func aValueOfATypeThatNoSettingTakesIsAFault() {
        for value in ["2026-01-01", "{}", "[[1]]", "1e400", "nan", "12:00:00"] {
            #expect(faults(loader(file: "server.port = \(value)")).count == 1, "\(value)")
        }
    }

    @Test func controlCharactersInAFaultAreEscaped() {
        let found = faults(loader(file: "server.host = \"\\u001b[2Jx\\n\""))
        #expect(found.first?.contains("\\u001b[2Jx\\u000a") == true)
    }
}
