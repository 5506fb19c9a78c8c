import AuthCore
import HTTPEngine
import JMAP
import LocalMail
import Scheduling
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// All APIs with mail in this process.
struct MailWorld {
    let api: APIWorld
    let local: LocalMail

    init(
        _ world: AgentWorld? = nil, limits: MailLimits = MailLimits(),
        pool: WorkerPool = WorkerPool(name: "mail", lanes: 2, depth: 128),
        quota: @escaping @Sendable (String) -> Int = { _ in 40 << 20 }
    ) throws {
        let world = try world ?? AgentWorld()
        local = LocalMail(
            MailEnvironment(
                reader: MIMEReader(), now: { MailInstant(milliseconds: 784_111_777_000) },
                random: { 7 },
                owner: { address in
                    address.hasSuffix("@mail.test")
                        ? .account(MailAccount(id: address, address: address)) : .elsewhere
                }, quota: quota), limits: limits)
        let domain = try #require(Domain(parsing: "mail.test"))
        api = try APIWorld(
            world,
            mail: AccountsMail(
                local: local, names: MailNames(subject: .address, firstDomain: domain),
                work: MailWork(pool: pool)))
    }

    /// An account with its Email JWT and a capability.
    func mailbox(
        _ name: String = "demo"
    ) async throws -> (address: String, token: String, capability: String) {
        let address = "\(name)@mail.test"
        let token = try await api.account(address).token
        let capability = try await api.call(.post, "/api/v1/capability", bearer: token).bearer
        return (address, token, capability)
    }

    func mail(of address: String) -> AccountMail {
        local.mail(of: MailAccount(id: address, address: address))
    }

    /// - Returns: the id of the message.
    @discardableResult
    func deliver(_ message: String, to address: String) async throws -> String {
        let source = Array(message.replacing("\n", with: "\r\n").utf8)
        let results = await local.deliver(source, from: "bob@example.com", to: [address])
        guard case .delivered(_, let id)? = results.first?.outcome else {
            Issue.record("not delivered: \(results)")
            return ""
        }
        return id
    }
}
