import AuthAPI
import AuthCore
import HTTPEngine
import TestSupport
import Testing

/// What mail servers look up.
struct SocketmapTests {
    private let services: ServicesWorld

    init() async throws {
        services = try await ServicesWorld()
    }

    private func reply(
        _ request: String, in other: ServicesWorld? = nil
    ) async throws -> String {
        let service = (other ?? services).api.services.socketmap
        return String(decoding: try await service.answer(Array(request.utf8)), as: UTF8.self)
    }

    @Test(arguments: ["mailbox", "sender"])
    func anActiveAccountHasItsName(map: String) async throws {
        for key in [ServicesWorld.address, "Demo@MAIL.test"] {
            #expect(try await reply("\(map) \(key)") == "OK demo@mail.test")
        }
        try await services.disable()
        #expect(try await reply("\(map) demo@mail.test") == "NOTFOUND ")
    }

    @Test(arguments: ["mailbox", "sender"])
    func aSubaddressHasTheNameOfItsMailbox(map: String) async throws {
        // Mail servers do not take a sub-address apart for a socketmap.
        for tag in ["tag", "", "Tag", "a+b", "list=example.com", "!#$%&'*/?^`{|}~"] {
            #expect(try await reply("\(map) demo+\(tag)@mail.test") == "OK demo@mail.test")
        }
        for key in [
            "nobody+tag@mail.test", "+demo@mail.test", "demo+tag@elsewhere.test", "demo+@",
            "demo+a@b@mail.test",
        ] {
            #expect(try await reply("\(map) \(key)") == "NOTFOUND ")
        }
        try await services.disable()
        #expect(try await reply("\(map) demo+tag@mail.test") == "NOTFOUND ")
    }

    @Test(arguments: [
        "nobody-here@mail.test", "demo-tag@mail.test", "demo", "@mail.test", "", " ",
        "a b@mail.test",
        " demo@mail.test", "demo@mail.test ", "demo@mail.test\t", "demo@mail.test\0",
        "d\u{e9}mo@mail.test", "demo@mail.test@mail.test", "demo@elsewhere.test",
    ])
    func anyOtherKeyIsNotFound(key: String) async throws {
        for map in ["mailbox", "sender"] {
            #expect(try await reply("\(map) \(key)") == "NOTFOUND ")
        }
    }

    @Test func aDomainIsFoundWhereItsMailBelongsHere() async throws {
        let world = services.api.world
        try await world.addDomain("added.test", isProOnly: true)
        let user = try await world.addUser("owner@example.com")
        _ = try await world.domains.add("claimed.test", for: user, by: world.caller)
        for domain in ["mail.test", "MAIL.test", "added.test"] {
            #expect(try await reply("domain \(domain)") == "OK OK")
        }
        for domain in ["claimed.test", "elsewhere.test", "demo@mail.test", "mail..test", "", "."] {
            #expect(try await reply("domain \(domain)") == "NOTFOUND ")
        }
    }

    @Test(arguments: [
        "", "mailbox", "Mailbox demo@mail.test", "mailboxes demo@mail.test", " mailbox a",
        "quota a",
        "mailbox\tdemo@mail.test",
    ])
    func anUnknownMapIsAPermanentError(request: String) async throws {
        #expect(try await reply(request).hasPrefix("PERM "))
    }

    @Test func withLocalPartsAsNamesTheNameIsOne() async throws {
        let services = try await ServicesWorld(AgentWorld(mailSubject: .localPart))
        #expect(try await reply("mailbox demo@mail.test", in: services) == "OK demo")
        #expect(try await reply("sender demo@mail.test", in: services) == "OK demo")
        try await services.api.world.addDomain("other.test")
        _ = try await services.api.account("other@other.test")
        #expect(try await reply("mailbox other@other.test", in: services) == "NOTFOUND ")
    }

    @Test func aBusyStoreIsATemporaryErrorAndABrokenOneIsReported() async throws {
        let stores = try AgentWorld().stores
        let accounts = FailingAccounts(stores.accounts)
        let services = try await ServicesWorld(AgentWorld(stores: stores, accounts: accounts))
        accounts.error = StoreBusy()
        #expect(try await reply("mailbox demo@mail.test", in: services).hasPrefix("TEMP "))
        accounts.error = BrokenStore()
        await #expect(throws: BrokenStore.self) {
            try await reply("sender demo@mail.test", in: services)
        }
        let service = services.api.services.socketmap
        #expect(String(decoding: service.failed, as: UTF8.self).hasPrefix("TEMP "))
    }

    @Test func aRequestHas1024BytesAndALongerOneIsNotFound() {
        let service = services.api.services.socketmap
        #expect(service.requestBytes == 1_024)
        #expect(service.oversized == Array("NOTFOUND ".utf8))
    }
}
