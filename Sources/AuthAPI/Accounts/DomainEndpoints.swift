internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// `/api/domains` and `/api/user/domains/…`.
struct DomainEndpoints: Sendable {
    let domains: Domains
    let pipeline: Pipeline<AccountsError>
    let access: AccountsAccess

    var routes: [Route] {
        let domain = "/api/user/domains/{domain_id}"
        return [
            pipeline.route(.get, "/api/domains", .none(), listSystem),
            pipeline.route(.get, "/api/user/domains", access.user(.domains), list),
            pipeline.route(.post, "/api/user/domains", body: .json, access.user(.domains), add),
            pipeline.route(.post, domain + "/verify", access.user(.domains), verify),
            pipeline.route(.delete, domain, access.user(.domains), remove),
        ]
    }

    /// GET /api/domains
    private func listSystem(_ request: APIRequest<Void>) async throws(AccountsError) -> Response {
        let domains = try await domains.system()
        return .json(.ok) { body in
            body.array("domains") { list in
                for (index, domain) in domains.enumerated() {
                    list.element { member in
                        member.member("id", domain.id.text)
                        member.member("domain", domain.name.text)
                        member.member("default", index == 0)
                        member.member("sort_order", index)
                        member.member("pro_only", domain.isProOnly)
                    }
                }
            }
        }
    }

    /// GET /api/user/domains
    private func list(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let domains = try await domains.list(of: request.principal)
        return .json(.ok) { body in
            body.array("domains") { list in
                for domain in domains {
                    list.element { member in
                        member.member("id", domain.id.text)
                        member.member("domain", domain.name.text)
                        member.member("verify_status", domain.verification.rawValue)
                        member.member("verify_token", domain.verifyToken)
                        member.member("verified_at", domain.verified?.rfc3339)
                        member.member("mx_configured", domain.hasMX)
                        member.member("created_at", domain.created.rfc3339)
                    }
                }
            }
        }
    }

    /// POST /api/user/domains
    private func add(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let text = try JSONBody<AccountsError>(request.http).requiredString("domain")
        let (domain, records) = try await domains.add(
            text, for: request.principal, by: request.caller)
        return .json(.created) { body in
            body.member("id", domain.id.text)
            body.member("domain", domain.name.text)
            body.member("verify_token", domain.verifyToken)
            write(records, found: nil, to: &body)
        }
    }

    /// POST /api/user/domains/{domain_id}/verify
    private func verify(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        let inspection = try await domains.verify(
            request.domainID, of: request.principal, by: request.caller)
        return .json(.ok) { body in
            body.member("verify_status", inspection.verification.rawValue)
            body.member("txt_record", inspection.hasText)
            body.member("mx_record", inspection.hasMX)
            write(inspection.records, found: inspection, to: &body)
            body.member("message", message(for: inspection))
        }
    }

    /// DELETE /api/user/domains/{domain_id}
    private func remove(_ request: APIRequest<User>) async throws(AccountsError) -> Response {
        try await domains.remove(request.domainID, of: request.principal, by: request.caller)
        return Response(status: .noContent)
    }

    private func write(
        _ records: [DNSRecord], found inspection: Domains.Inspection?, to body: inout JSONWriter
    ) {
        body.array("dns_records") { list in
            for record in records {
                list.element { member in
                    member.member("type", record.kind.rawValue)
                    member.member("host", record.host)
                    member.member("value", record.value)
                    if let priority = record.priority { member.member("priority", priority) }
                    guard let inspection else { return }
                    switch record.kind {
                    case .txt: member.member("ok", inspection.hasText)
                    case .mx: member.member("ok", inspection.hasMX)
                    }
                }
            }
        }
    }

    private func message(for inspection: Domains.Inspection) -> String {
        switch (inspection.verification, inspection.hasMX) {
        case (.verified, true): "The domain is verified and its mail is directed here."
        case (.verified, false): "The domain is verified; its MX record does not point here yet."
        default:
            inspection.hasText
                ? "The domain is verified for another user, until its TXT record has been missing "
                    + "for a week."
                : "The TXT record was not found. DNS changes can take a while: try again later."
        }
    }
}

extension APIRequest {
    /// The id in the path; `nil` for a text that cannot be an id.
    fileprivate var domainID: DomainID? {
        http.parameters["domain_id"].flatMap(DomainID.init)
    }
}
