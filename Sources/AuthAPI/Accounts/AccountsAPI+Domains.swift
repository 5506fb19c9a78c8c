internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

extension AccountsAPI {
    /// GET /api/user/domains
    func listDomains(_ request: Request, of user: User, by caller: Caller) async throws -> Response
    {
        let domains = try await auth.domains(of: user)
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
    func addDomain(_ request: Request, of user: User, by caller: Caller) async throws -> Response {
        let text = try JSONBody(request).requiredString("domain")
        let domain = try await auth.addDomain(text, for: user, by: caller)
        return .json(.created) { body in
            body.member("id", domain.id.text)
            body.member("domain", domain.name.text)
            body.member("verify_token", domain.verifyToken)
            write(auth.records(for: domain), found: nil, to: &body)
        }
    }

    /// POST /api/user/domains/{domain_id}/verify
    func verifyDomain(_ request: Request, of user: User, by caller: Caller) async throws -> Response
    {
        let (domain, inspection) = try await auth.verifyDomain(
            try domainID(in: request), of: user, by: caller)
        return .json(.ok) { body in
            body.member("verify_status", inspection.verification.rawValue)
            body.member("txt_record", inspection.hasText)
            body.member("mx_record", inspection.hasMX)
            write(auth.records(for: domain), found: inspection, to: &body)
            body.member("message", message(for: inspection))
        }
    }

    /// DELETE /api/user/domains/{domain_id}
    func removeDomain(_ request: Request, of user: User, by caller: Caller) async throws -> Response
    {
        try await auth.removeDomain(try domainID(in: request), of: user, by: caller)
        return Response(status: .noContent)
    }

    private func domainID(in request: Request) throws(Refusal) -> DomainID {
        guard let id = request.parameters["domain_id"].flatMap(DomainID.init) else {
            throw .notFound
        }
        return id
    }

    private func write(
        _ records: [DNSRecord], found inspection: DomainInspection?, to body: inout JSONWriter
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

    private func message(for inspection: DomainInspection) -> String {
        switch (inspection.verification, inspection.hasMX) {
        case (.verified, true): "The domain is verified and its mail comes here."
        case (.verified, false): "The domain is verified; its MX record does not point here yet."
        default: "The TXT record was not found. DNS changes can take a while: try again later."
        }
    }
}
