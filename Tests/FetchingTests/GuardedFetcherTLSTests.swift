import TestPrimitives
import Testing

@testable import Fetching

/// Whom a fetch believes.
@Suite(.timeLimit(.minutes(1))) struct GuardedFetcherTLSTests {
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
        let fetcher = GuardedFetcher(rules: rules) { _ in [IPAddress(v4: 0x7f00_0001)] }
        return try await fetcher.fetch(target, within: .seconds(10))
    }

    @Test func aHostThatTheAuthorityVouchesForIsBelieved() async throws {
        let body = try await fetch("hash.test", from: "hash.test", trusting: authority.certificate)
        #expect(body == Array("hi".utf8))
    }

    @Test func anotherHostsCertificateIsNotBelieved() async {
        await #expect(throws: FetchFailure(.untrusted)) {
            try await fetch("hash.test", from: "other.test", trusting: authority.certificate)
        }
    }

    @Test func aCertificateForANameIsNotBelievedForAnAddress() async {
        await #expect(throws: FetchFailure(.untrusted)) {
            try await fetch("127.0.0.1", from: "hash.test", trusting: authority.certificate)
        }
    }

    @Test func aCertificatePastItsTimeIsNotBelieved() async {
        await #expect(throws: FetchFailure(.untrusted)) {
            try await fetch("old.test", from: "old.test", trusting: authority.certificate)
        }
    }

    @Test func anAuthorityThatNobodyConfiguredIsNotBelieved() async throws {
        await #expect(throws: FetchFailure(.untrusted)) {
            try await fetch("hash.test", from: "hash.test", trusting: nil)
        }
        let stranger = try LocalAuthority(names: [])
        await #expect(throws: FetchFailure(.untrusted)) {
            try await fetch("hash.test", from: "hash.test", trusting: stranger.certificate)
        }
    }

    @Test func anAuthorityThatCannotBeReadIsNobodysTrust() async {
        await #expect(throws: FetchFailure(.untrusted)) {
            try await fetch("hash.test", from: "hash.test", trusting: "/no/such/file.pem")
        }
    }

    @Test func aDirectoryOfAuthoritiesIsBelievedAsAFileOfThemIs() async throws {
        let rules = FetchRules(allowsPrivateNetworks: true, ports: .any)
        let directory = try authority.hashedDirectory()
        for (name, outcome) in [("hash.test", nil), ("other.test", FetchFailure(.untrusted))] {
            let listener = authority.listener(as: "hash.test", answer: Self.answer)
            let transfer = GuardedTransfer(
                target: try FetchTarget("https://\(name):\(listener.port)/", under: rules),
                addresses: [IPAddress(v4: 0x7f00_0001)], rules: rules, trust: .directory(directory),
                deadline: .now + .seconds(10))
            if let outcome {
                await #expect(throws: outcome) {
                    try await onOwnThread { try transfer.perform() }
                }
            } else {
                let body = try await onOwnThread { try transfer.perform() }
                #expect(body == Array("hi".utf8))
            }
        }
    }

    @Test func aDirectoryIsTakenOnlyIfAuthoritiesAreFoundInIt() throws {
        #expect(try TrustAnchors.isHashed(authority.hashedDirectory()))
        let bare = try LocalAuthority(names: [])
        #expect(!TrustAnchors.isHashed(bare.directory))
        #expect(!TrustAnchors.isHashed("/no/such/directory"))
        #expect(TrustAnchors(file: "/a.pem") == .file("/a.pem"))
    }
}
