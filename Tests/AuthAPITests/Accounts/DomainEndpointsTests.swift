import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

struct DomainEndpointsTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test func theFirstDomainIsTheDefault() async throws {
        let body = try await api.call(.get, "/api/domains").json
        let list = try #require(body.list("domains"))
        guard case .object(let domain)? = list.first else {
            Issue.record("no domain")
            return
        }
        #expect(domain.names == ["id", "domain", "default", "sort_order", "pro_only"])
        #expect(domain.text("domain") == "mail.test")
        #expect(domain["default"] == .bool(true))
        #expect(DomainID(try #require(domain.text("id"))) != nil)
    }

    @Test func aDomainIsUsableOnceItsTXTRecordIsPublished() async throws {
        let pro = try await api.pro()
        let (id, records) = try await add("Added.Example", pro)
        #expect(try await api.create("a@added.example", bearer: pro).status == .badRequest)
        let before = try await verify(id, pro)
        #expect(before.text("verify_status") == "failed")
        #expect(before["txt_record"] == .bool(false) && before["mx_record"] == .bool(false))
        api.world.resolver.publish(text: records.value, at: records.host)
        let after = try await verify(id, pro)
        #expect(after.text("verify_status") == "verified")
        #expect(after["txt_record"] == .bool(true) && after["mx_record"] == .bool(false))
        let found = try #require(after.list("dns_records")).compactMap { record in
            if case .object(let record) = record { record["ok"] } else { nil }
        }
        #expect(found == [.bool(true), .bool(false)])
        #expect(try await api.create("a@added.example", bearer: pro).status == .created)
        api.world.resolver.publish(exchanger: "mail.test", of: "added.example")
        #expect(try await verify(id, pro)["mx_record"] == .bool(true))
    }

    @Test func aVerifiedDomainStaysVerifiedWhenItsRecordDisappears() async throws {
        let pro = try await api.pro()
        let (id, records) = try await add("added.example", pro)
        api.world.resolver.publish(text: records.value, at: records.host)
        _ = try await verify(id, pro)
        api.world.resolver.withdrawAll()
        let after = try await verify(id, pro)
        #expect(after.text("verify_status") == "verified")
        #expect(after["txt_record"] == .bool(false))
        #expect(try await api.create("a@added.example", bearer: pro).status == .created)
    }

    @Test func aCheckThatBeganEarlierDoesNotUndoAVerification() async throws {
        let pro = try await api.pro()
        let (id, records) = try await add("added.example", pro)
        let resolver = api.world.resolver
        resolver.meanwhile {
            resolver.publish(text: records.value, at: records.host)
            let status = try await verify(id, pro).text("verify_status")
            #expect(status == "verified")
        }
        #expect(try await verify(id, pro).text("verify_status") == "verified")
        #expect(try await api.create("a@added.example", bearer: pro).status == .created)
    }

    @Test func theOperatorsDomainsAreForEverybodyOrForProUsers() async throws {
        try await api.world.addDomain("open.test")
        api.world.clock.advance(by: .seconds(1))
        try await api.world.addDomain("pro.test", isProOnly: true)
        let offered = try #require(try await api.call(.get, "/api/domains").json.list("domains"))
            .compactMap { domain in if case .object(let domain) = domain { domain } else { nil } }
        #expect(offered.map { $0.text("domain") } == ["mail.test", "open.test", "pro.test"])
        #expect(offered.map { $0["pro_only"] } == [.bool(false), .bool(false), .bool(true)])
        #expect(offered.map { $0["default"] } == [.bool(true), .bool(false), .bool(false)])
        #expect(offered.map { $0.number("sort_order") } == [0, 1, 2])

        let pro = try await api.pro()
        #expect(try await api.create("free@open.test").status == .created)
        #expect(try await api.create("owned@open.test", bearer: pro).status == .created)
        try expectError(try await api.create("free@pro.test"), 400, "invalid_domain")
        #expect(try await api.create("owned@pro.test", bearer: pro).status == .created)
    }

    @Test func aDomainOfAUserIsForThatUserOnly() async throws {
        let pro = try await api.pro()
        let other = try await api.pro("other@example.com")
        let (id, records) = try await add("added.example", pro)
        api.world.resolver.publish(text: records.value, at: records.host)
        _ = try await verify(id, pro)
        try expectError(
            try await api.create("a@added.example", bearer: other), 400, "invalid_domain")
        try expectError(try await api.create("a@added.example"), 400, "invalid_domain")
        try expectError(
            await api.call(.post, "/api/user/domains/\(id)/verify", bearer: other), 404,
            "not_found")
    }

    @Test func domainsAreListedWithTheirState() async throws {
        let pro = try await api.pro()
        _ = try await add("added.example", pro)
        let body = try await api.call(.get, "/api/user/domains", bearer: pro).json
        guard case .object(let domain)? = try #require(body.list("domains")).first else {
            Issue.record("no domain")
            return
        }
        #expect(
            domain.names == [
                "id", "domain", "verify_status", "verify_token", "verified_at", "mx_configured",
                "created_at",
            ])
        #expect(domain.text("verify_status") == "pending")
        #expect(domain["verified_at"] == .null)
    }

    @Test func anAdditionThatFailsHasTheDocumentedCode() async throws {
        let pro = try await api.pro()
        _ = try await add("one.example", pro)
        for (domain, status, code) in [
            ("localhost", 400, "invalid_domain"), ("-x.example", 400, "invalid_domain"),
            ("b\\u00fccher.example", 400, "invalid_domain"), ("", 400, "invalid_domain"),
            ("127.0.0.1", 400, "invalid_domain"), ("1.2.3.4.", 400, "invalid_domain"),
            ("1.2.3.4", 400, "invalid_domain"), ("256.1", 400, "invalid_domain"),
            ("[::1]", 400, "invalid_domain"), ("::1", 400, "invalid_domain"),
            ("mail.test", 409, "domain_already_exists"),
            ("one.example", 409, "domain_already_exists"),
        ] {
            let response = await api.call(
                .post, "/api/user/domains", bearer: pro, json: #"{"domain":"\#(domain)"}"#)
            try expectError(response, status, code)
        }
        _ = try await add("two.example", pro)
        let third = await api.call(
            .post, "/api/user/domains", bearer: pro, json: #"{"domain":"three.example"}"#)
        try expectError(third, 403, "domain_limit_reached")
    }

    @Test func aDomainInUseCannotBeRemoved() async throws {
        let pro = try await api.pro()
        let (id, records) = try await add("added.example", pro)
        api.world.resolver.publish(text: records.value, at: records.host)
        _ = try await verify(id, pro)
        _ = try await api.create("a@added.example", bearer: pro)
        try expectError(
            await api.call(.delete, "/api/user/domains/\(id)", bearer: pro), 409, "domain_in_use")
        _ = await api.call(.delete, "/api/user/accounts/a@added.example", bearer: pro)
        let gone = await api.call(.delete, "/api/user/domains/\(id)", bearer: pro)
        #expect(gone.status == .noContent)
        try expectError(
            await api.call(.delete, "/api/user/domains/\(id)", bearer: pro), 404, "not_found")
    }

    @Test func aResolverThatDoesNotAnswerIsBusy() async throws {
        let pro = try await api.pro()
        let (id, _) = try await add("added.example", pro)
        api.world.resolver.stopAnswering()
        let response = await api.call(.post, "/api/user/domains/\(id)/verify", bearer: pro)
        try expectError(response, 503, "server_busy")
    }

    private func add(
        _ name: String, _ pro: String
    ) async throws -> (id: String, text: (host: String, value: String)) {
        let response = await api.call(
            .post, "/api/user/domains", bearer: pro, json: #"{"domain":"\#(name)"}"#)
        #expect(response.status == .created)
        let body = try response.json
        #expect(body.names == ["id", "domain", "verify_token", "dns_records"])
        let records = try #require(body.list("dns_records")).compactMap { record in
            if case .object(let record) = record { record } else { nil }
        }
        #expect(records.map { $0.text("type") } == ["TXT", "MX"])
        #expect(records[1].number("priority") == 10)
        return (
            try #require(body.text("id")),
            (try #require(records[0].text("host")), try #require(records[0].text("value")))
        )
    }

    private func verify(_ id: String, _ pro: String) async throws -> JSONObject {
        let response = await api.call(.post, "/api/user/domains/\(id)/verify", bearer: pro)
        #expect(response.status == .ok)
        let body = try response.json
        #expect(
            body.names == ["verify_status", "txt_record", "mx_record", "dns_records", "message"])
        return body
    }
}
