/// A target under Sources with Swift in it, and the modules that it may import.
struct Module {
    let name: String
    /// Other modules, C libraries and packages: the dependency graph, edge by edge.
    let mayImport: Set<String>
    /// Modules of the system. Without Dispatch and Glibc a module has no queue, socket, file or
    /// clock.
    let system: Set<String>

    init(_ name: String, _ mayImport: Set<String>, system: Set<String> = []) {
        self.name = name
        self.mayImport = mayImport
        self.system = system
    }

    static let all = [
        Module("Main", ["postern"]),
        Module(
            "PosternTesting", ["postern", "AuthAPI", "AuthCore", "Fetching", "LocalMail"],
            system: ["FoundationEssentials"]),
        Module(
            "postern",
            [
                "AgentClient", "Configuration", "Provisioning", "Mailing", "AuthAPI", "AuthStorage",
                "AuthCore", "Cryptography", "Fetching", "HTTPEngine", "IdentityProviders", "JMAP",
                "LocalMail", "MIME", "Networking", "Platform", "QRCode", "RemoteMail", "Scheduling",
                "StrictJSON",
                "WebAuthn", "CProcess", "ArgumentParser", "Logging",
            ],
            system: ["Dispatch", "Glibc", "Synchronization"]),
        Module(
            "AgentClient",
            ["AuthCore", "Cryptography", "Fetching", "Platform", "Scheduling", "StrictJSON"],
            system: ["Glibc", "Synchronization"]),
        Module(
            "Configuration",
            [
                "AuthAPI", "AuthStorage", "AuthCore", "Cryptography", "Fetching", "HTTPEngine",
                "LocalMail", "Mailing", "Networking", "Platform", "Scheduling", "CProcess",
                "TOMLKit",
            ],
            system: ["Dispatch", "Glibc"]),
        Module(
            "Provisioning",
            [
                "AuthCore", "Cryptography", "Fetching", "Networking", "Platform", "Scheduling",
                "StrictJSON",
            ],
            system: ["Synchronization"]),
        Module(
            "Mailing", ["AuthCore", "Fetching", "Networking", "Scheduling"],
            system: ["Synchronization"]),
        Module(
            "AuthAPI",
            [
                "AuthCore", "Cryptography", "HTTPEngine", "JMAP", "LocalMail", "MIME",
                "Networking", "RemoteMail", "Scheduling", "StrictJSON", "WebAuthn",
                "CEmbeddedFiles",
            ],
            system: ["Synchronization"]),
        Module(
            "Fetching", ["Networking", "Scheduling", "CCurl", "CResolver"],
            system: ["Glibc", "Synchronization"]),
        Module(
            "AuthStorage",
            ["AuthCore", "Cryptography", "Scheduling", "CEmbeddedFiles", "CPostgres", "CSQLite"],
            system: ["Dispatch", "Glibc", "Synchronization"]),
        Module(
            "AuthCore",
            [
                "Cryptography", "IdentityProviders", "Networking", "Scheduling", "StrictJSON",
                "WebAuthn", "CEmbeddedFiles",
            ],
            system: ["Synchronization"]),
        Module(
            "HTTPEngine", ["Cryptography", "Networking", "Scheduling", "COpenSSL", "CSocket"],
            system: ["Dispatch", "Glibc", "Synchronization"]),
        Module(
            "Platform", ["Cryptography", "CAllocator", "CProcess"],
            system: ["Dispatch", "Glibc", "SwiftOverlayShims", "Synchronization"]),
        Module("JMAP", ["LocalMail", "MIME", "Cryptography", "Scheduling", "StrictJSON"]),
        Module(
            "Cryptography", ["COpenSSL", "CArgon2", "CArgon2Kernels", "CScrypt", "CScryptLanes"],
            system: ["Glibc", "Synchronization"]),
        Module(
            "RemoteMail", ["Fetching", "LocalMail", "Networking", "Scheduling", "StrictJSON"],
            system: ["Synchronization"]),
        Module("LocalMail", [], system: ["Synchronization"]),
        Module(
            "IdentityProviders", ["Cryptography", "Networking", "StrictJSON"],
            system: ["Synchronization"]),
        Module("WebAuthn", ["Cryptography", "StrictJSON"]),
        Module("StrictJSON", []),
        Module("QRCode", ["CQRCode"]),
        Module("MIME", ["CGMime"]),
        Module(
            "Scheduling", ["Networking", "CSocket"],
            system: ["Dispatch", "Glibc", "Synchronization"]),
        Module("Networking", [], system: ["Glibc"]),
    ]

    static func named(_ name: String) -> Module? {
        all.first { $0.name == name }
    }
}
