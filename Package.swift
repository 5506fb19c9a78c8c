// swift-tools-version: 6.2
import PackageDescription

// The dependency graph, top to bottom: each target may import what it lists and nothing else
// (the build runs with --explicit-target-dependency-import-check error).
// A target whose name does not begin with `Auth` does not know what a token is.

let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        // An async function stays on its caller's queue until it awaits something with one of its
        // own: a handler that never does so never leaves its connection's loop.
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)])

let package = Package(
    name: "postern",
    products: [
        .executable(name: "postern", targets: ["Main"]),
        .library(name: "PosternTesting", targets: ["PosternTesting"]),
        .library(name: "HTTPEngine", targets: ["HTTPEngine"]),
    ],
    dependencies: [
        // --help that teaches, typed flags; does not import full Foundation.
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        // The logging front every Swift library speaks; no Foundation at all.
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        // TOML 1.0 through toml++, with line numbers in its errors; no Foundation.
        .package(url: "https://github.com/LebJe/TOMLKit", exact: "0.6.0"),
    ],
    targets: [
        .executableTarget(name: "Main", dependencies: ["postern"], swiftSettings: settings),
        // Runs a server in the process of a test.
        .target(
            name: "PosternTesting",
            dependencies: ["postern", "AuthAPI", "LocalMail", "Fetching", "AuthCore"],
            swiftSettings: settings),
        // All of the program but its entry point.
        .target(
            name: "postern",
            dependencies: [
                "AgentClient", "Configuration", "Provisioning", "Mailing", "AuthAPI",
                "AuthStorage", "Fetching", "AuthCore", "HTTPEngine", "Platform", "JMAP",
                "RemoteMail", "Cryptography", "LocalMail", "MIME", "Networking", "QRCode",
                "Scheduling", "StrictJSON", "WebAuthn", "IdentityProviders", "CProcess",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "AgentClient",
            dependencies: [
                "Fetching", "AuthCore", "Platform", "Cryptography", "Scheduling", "StrictJSON",
            ],
            swiftSettings: settings),
        .target(
            name: "Configuration",
            dependencies: [
                "Mailing", "AuthAPI", "AuthStorage", "Fetching", "AuthCore", "HTTPEngine",
                "Platform", "Cryptography", "LocalMail", "Networking", "Scheduling", "CProcess",
                .product(name: "TOMLKit", package: "TOMLKit"),
            ],
            swiftSettings: settings),
        .target(
            name: "Provisioning",
            dependencies: [
                "Fetching", "AuthCore", "Platform", "Cryptography", "Networking", "Scheduling",
                "StrictJSON",
            ],
            swiftSettings: settings),
        // Mail to users, by the operator's relay.
        .target(
            name: "Mailing", dependencies: ["Fetching", "AuthCore", "Networking", "Scheduling"],
            swiftSettings: settings),
        .target(
            name: "AuthAPI",
            dependencies: [
                "AuthCore", "Cryptography", "HTTPEngine", "JMAP", "RemoteMail", "LocalMail", "MIME",
                "Networking", "Scheduling", "StrictJSON", "WebAuthn", "CEmbeddedFiles",
            ],
            swiftSettings: settings),
        .target(
            name: "AuthStorage",
            dependencies: [
                "AuthCore", "Cryptography", "Scheduling", "CEmbeddedFiles", "CPostgres", "CSQLite",
            ],
            swiftSettings: settings),
        .target(
            name: "Fetching", dependencies: ["Networking", "Scheduling", "CCurl", "CResolver"],
            swiftSettings: settings),
        .target(
            name: "AuthCore",
            dependencies: [
                "Cryptography", "IdentityProviders", "Networking", "Scheduling", "StrictJSON",
                "WebAuthn", "CEmbeddedFiles",
            ],
            swiftSettings: settings),
        .target(
            name: "HTTPEngine",
            dependencies: ["Cryptography", "Networking", "Scheduling", "COpenSSL", "CSocket"],
            swiftSettings: settings),
        // Files, standard streams, signals: what the program needs of the system.
        .target(
            name: "Platform", dependencies: ["Cryptography", "CAllocator", "CProcess"],
            swiftSettings: settings),
        .target(
            name: "JMAP",
            dependencies: ["LocalMail", "MIME", "Cryptography", "Scheduling", "StrictJSON"],
            swiftSettings: settings),
        .target(
            name: "Cryptography",
            dependencies: ["COpenSSL", "CArgon2", "CArgon2Kernels", "CScrypt", "CScryptLanes"],
            swiftSettings: settings),
        // The mail of accounts at another server, over JMAP.
        .target(
            name: "RemoteMail",
            dependencies: ["Fetching", "LocalMail", "Networking", "Scheduling", "StrictJSON"],
            swiftSettings: settings),
        // Folders, messages and threads in memory, delivery, the SMTP session.
        .target(name: "LocalMail", swiftSettings: settings),
        // Passkeys: what authenticators and browsers send, verified.
        .target(
            name: "WebAuthn", dependencies: ["Cryptography", "StrictJSON"],
            swiftSettings: settings),
        // OpenID Connect and GitHub: who somebody is there.
        .target(
            name: "IdentityProviders", dependencies: ["Cryptography", "Networking", "StrictJSON"],
            swiftSettings: settings),
        .target(name: "StrictJSON", swiftSettings: settings),
        .target(name: "QRCode", dependencies: ["CQRCode"], swiftSettings: settings),
        .target(name: "MIME", dependencies: ["CGMime"], swiftSettings: settings),
        .target(
            name: "Scheduling", dependencies: ["Networking", "CSocket"], swiftSettings: settings),
        .target(name: "Networking", swiftSettings: settings),

        // Synchronization and random numbers for the tests of every module. Depends on no module.
        .target(name: "TestPrimitives", path: "Tests/TestPrimitives", swiftSettings: settings),
        // Fixtures for the tests of several modules.
        .target(
            name: "TestSupport",
            dependencies: [
                "AuthCore", "AuthStorage", "Cryptography", "IdentityProviders", "Networking",
                "Scheduling", "StrictJSON", "TestPrimitives", "WebAuthn",
            ],
            path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(
            name: "SchedulingTests",
            dependencies: ["Networking", "Scheduling", "CSocket", "TestPrimitives"],
            swiftSettings: settings),
        .testTarget(
            name: "NetworkingTests", dependencies: ["Networking", "TestPrimitives"],
            swiftSettings: settings),
        .testTarget(
            name: "JMAPTests", dependencies: ["JMAP", "LocalMail", "MIME", "StrictJSON"],
            swiftSettings: settings),
        .testTarget(
            name: "RemoteMailTests",
            dependencies: [
                "AuthAPI", "RemoteMail", "Fetching", "JMAP", "LocalMail", "Networking",
                "Scheduling", "StrictJSON", "TestPrimitives", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LocalMailTests", dependencies: ["LocalMail", "TestPrimitives"],
            swiftSettings: settings),
        .testTarget(
            name: "StrictJSONTests", dependencies: ["StrictJSON", "TestPrimitives"],
            swiftSettings: settings),
        .testTarget(
            name: "MIMETests", dependencies: ["MIME", "TestPrimitives"], exclude: ["Messages"],
            swiftSettings: settings),
        .testTarget(name: "QRCodeTests", dependencies: ["QRCode"], swiftSettings: settings),
        .testTarget(
            name: "IdentityProvidersTests",
            dependencies: [
                "IdentityProviders", "Cryptography", "Networking", "StrictJSON", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "WebAuthnTests",
            dependencies: ["WebAuthn", "Cryptography", "TestPrimitives", "TestSupport"],
            exclude: ["Vectors"],
            swiftSettings: settings),
        .testTarget(
            name: "CryptographyTests",
            dependencies: ["Cryptography", "COpenSSL", "TestPrimitives", "TestSupport"],
            exclude: ["Vectors"],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPEngineTests",
            dependencies: [
                "HTTPEngine", "Networking", "Scheduling", "COpenSSL", "CSocket", "TestPrimitives",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AuthCoreTests",
            dependencies: [
                "AuthCore", "AuthStorage", "Cryptography", "Networking", "Scheduling", "StrictJSON",
                "TestPrimitives", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AuthStorageTests",
            dependencies: ["AuthStorage", "AuthCore", "Scheduling", "TestPrimitives"],
            swiftSettings: settings),
        .testTarget(
            name: "FetchingTests",
            dependencies: [
                "Fetching", "Networking", "CCurl", "COpenSSL", "CResolver", "TestPrimitives",
            ],
            swiftSettings: settings,
            // Its URL parser, to compare with ours.
            linkerSettings: [.linkedLibrary("curl")]),
        .testTarget(
            name: "AuthAPITests",
            dependencies: [
                "AuthAPI", "AuthCore", "AuthStorage", "Cryptography", "Fetching", "HTTPEngine",
                "JMAP", "LocalMail", "Networking", "RemoteMail", "Scheduling", "StrictJSON",
                "TestPrimitives", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PlatformTests", dependencies: ["Platform", "Cryptography", "TestPrimitives"],
            swiftSettings: settings),
        .testTarget(
            name: "AgentClientTests",
            dependencies: [
                "AgentClient", "AuthCore", "Cryptography", "Fetching", "Platform", "Scheduling",
                "StrictJSON", "TestPrimitives",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: [
                "Configuration", "AuthAPI", "AuthCore", "AuthStorage", "Cryptography", "Fetching",
                "HTTPEngine", "Networking", "Platform", "TestPrimitives",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ProvisioningTests",
            dependencies: [
                "Provisioning", "AuthCore", "AuthStorage", "Cryptography", "TestPrimitives",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MailingTests",
            dependencies: [
                "Mailing", "AuthCore", "Fetching", "Networking", "Scheduling", "TestPrimitives",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PosternTests",
            dependencies: [
                "postern", "AuthAPI", "AuthCore", "AuthStorage", "Configuration", "Cryptography",
                "Fetching", "HTTPEngine", "Networking", "Platform", "Provisioning", "Scheduling",
                "StrictJSON", "TestPrimitives",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PosternTestingTests", dependencies: ["PosternTesting", "TestPrimitives"],
            swiftSettings: settings),
        .testTarget(name: "ArchitectureTests", swiftSettings: settings),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Main", "Cryptography", "Scheduling", "StrictJSON", "CSQLite", "TestPrimitives",
            ],
            swiftSettings: settings),

        // Files of its own and migrations/, by name.
        .target(
            name: "CEmbeddedFiles", exclude: ["Files"], publicHeadersPath: "include",
            cSettings: [.headerSearchPath(".")]),
        // Not linked with libcurl: it loads it. Needs the headers of libcurl4-openssl-dev.
        .target(name: "CCurl", publicHeadersPath: "include"),
        // Not linked with libpq: it loads it. Needs the headers of libpq-dev.
        .target(name: "CPostgres", publicHeadersPath: "include"),
        // Not linked with GMime: it loads it. Needs no headers of libgmime-3.0-dev.
        .target(name: "CGMime", publicHeadersPath: "include"),
        // Not linked with libqrencode: it loads it. Needs no header of libqrencode-dev.
        .target(name: "CQRCode", publicHeadersPath: "include"),
        // Needs libssl-dev.
        .target(name: "COpenSSL", publicHeadersPath: "include"),
        .target(name: "CArgon2Kernels", publicHeadersPath: "include"),
        .target(name: "CScryptLanes", publicHeadersPath: "include"),
        .systemLibrary(name: "CSocket"),
        .systemLibrary(name: "CArgon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(name: "CScrypt", providers: [.apt(["libscrypt-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CResolver", providers: [.apt(["libc6-dev"])]),
        .systemLibrary(name: "CAllocator"),
        .systemLibrary(name: "CProcess"),
    ]
)

// `make fuzz`: an executable whose `main` is libFuzzer's.
if Context.environment["POSTERN_FUZZ"] != nil {
    package.products.removeAll { $0.name == "postern" }
    package.targets.removeAll { $0.isTest || $0.name == "Main" }
    package.targets.append(
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "Configuration", "AuthAPI", "Fetching", "AuthCore", "HTTPEngine", "Platform",
                "Cryptography", "IdentityProviders", "JMAP", "LocalMail", "MIME", "Networking",
                "StrictJSON", "TestPrimitives", "WebAuthn",
            ],
            path: "Tests/Fuzz", exclude: ["run.sh", "http.dict", "seeds"],
            swiftSettings: settings))
}
