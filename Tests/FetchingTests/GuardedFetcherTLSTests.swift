import Networking
import TestPrimitives
import Testing

@testable import Fetching

/// Which certificates a fetch trusts.
@Suite(.timeLimit(.minutes(10))) struct GuardedFetcherTLSTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    private let authority: LocalAuthority

    init() throws {
        authority = try LocalAuthority(names: [
            ("hash.test", .current), ("other.test", .current), ("old.test", .past),
        ])
    }

    private func fetch(
        _ name: String, from shown: String, trusting file: String?
    ) async throws -> [UInt8] {
        let rules = FetchRules(
            allowsPrivateNetworks: true, ports: .any, certificateFile: file)
        let listener = authority.listener(as: shown, answer: Self.answer)
        let target = try FetchTarget("https://\(name):\(listener.port)/", under: rules)
        let fetcher = GuardedFetcher(rules: rules) { _ in [.loopback] }
        return try await fetcher.fetch(target, for: .loopback, by: .now + .seconds(300))
    }

    @Test func aCertificateOfTheAuthorityIsTrusted() async throws {
        let body = try await fetch("hash.test", from: "hash.test", trusting: authority.certificate)
        #expect(body == Array("hi".utf8))
    }

    @Test func anotherHostsCertificateIsNotTrusted() async {
        await #expect(throws: FetchError(.untrusted)) {
            try await fetch("hash.test", from: "other.test", trusting: authority.certificate)
        }
    }

    @Test func aCertificateForANameIsNotTrustedForAnAddress() async {
        await #expect(throws: FetchError(.untrusted)) {
            try await fetch("127.0.0.1", from: "hash.test", trusting: authority.certificate)
        }
    }

    @Test func anExpiredCertificateIsNotTrusted() async {
        await #expect(throws: FetchError(.untrusted)) {
            try await fetch("old.test", from: "old.test", trusting: authority.certificate)
        }
    }

    @Test func anAuthorityThatIsNotConfiguredIsNotTrusted() async throws {
        await #expect(throws: FetchError(.untrusted)) {
            try await fetch("hash.test", from: "hash.test", trusting: nil)
        }
        let other = try LocalAuthority(names: [])
        await #expect(throws: FetchError(.untrusted)) {
            try await fetch("hash.test", from: "hash.test", trusting: other.certificate)
        }
    }

    @Test func withoutAReadableAuthorityNothingIsTrusted() async {
        await #expect(throws: FetchError(.untrusted)) {
            try await fetch("hash.test", from: "hash.test", trusting: "/no/such/file.pem")
        }
    }

    @Test func aDirectoryOfAuthoritiesIsTrustedLikeAFile() async throws {
        let rules = FetchRules(allowsPrivateNetworks: true, ports: .any)
        let directory = try authority.hashedDirectory()
        for (name, outcome) in [("hash.test", nil), ("other.test", FetchError(.untrusted))] {
            let listener = authority.listener(as: "hash.test", answer: Self.answer)
            let transfer = GuardedTransfer(
                target: try FetchTarget("https://\(name):\(listener.port)/", under: rules),
                address: .loopback, isLast: true, rules: rules, trust: .directory(directory),
                deadline: .now + .seconds(300))
            if let outcome {
                await #expect(throws: outcome) {
                    try await onOwnThread { try transfer.get() }
                }
            } else {
                let body = try await onOwnThread { try transfer.get() }
                #expect(body == Array("hi".utf8))
            }
        }
    }

    @Test func aDirectoryIsUsedOnlyIfAuthoritiesAreFoundInIt() throws {
        #expect(try TrustAnchors.isHashed(authority.hashedDirectory()))
        let bare = try LocalAuthority(names: [])
        #expect(!TrustAnchors.isHashed(bare.directory))
        #expect(!TrustAnchors.isHashed("/no/such/directory"))
        #expect(TrustAnchors(file: "/a.pem") == .file("/a.pem"))
    }
}
