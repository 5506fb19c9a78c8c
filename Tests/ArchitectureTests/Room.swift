/// A target with Swift in it, and what it may import.
struct Room {
    let name: String
    /// Other rooms, C libraries and packages: the graph of the design, edge by edge.
    let mayImport: Set<String>
    /// Parts of the system. Without Dispatch and Glibc a room has no queue, no socket, no file
    /// and no clock.
    let system: Set<String>

    init(_ name: String, _ mayImport: Set<String>, system: Set<String> = []) {
        self.name = name
        self.mayImport = mayImport
        self.system = system
    }

    static let all = [
        Room(
            "postern",
            [
                "AuthAPI", "AuthStorage", "AuthCore", "Cryptography", "Fetching", "HTTPEngine",
                "Networking", "Scheduling", "StrictJSON", "CAllocator", "ArgumentParser", "Logging",
                "TOMLKit",
            ],
            system: ["Dispatch", "Glibc", "SwiftOverlayShims", "Synchronization"]),
        Room("AuthAPI", ["AuthCore", "Cryptography", "HTTPEngine", "StrictJSON"]),
        Room(
            "AuthStorage", ["AuthCore", "Cryptography", "Scheduling", "CSQLite"],
            system: ["Glibc", "Synchronization"]),
        Room(
            "Fetching", ["Networking", "Scheduling", "CCurl", "CResolver"], system: ["Glibc"]),
        Room("AuthCore", ["Cryptography", "StrictJSON"], system: ["Synchronization"]),
        Room(
            "HTTPEngine", ["Scheduling", "CSocket"],
            system: ["Dispatch", "Glibc", "Synchronization"]),
        Room("Cryptography", ["COpenSSL", "CArgon2", "CScrypt"], system: ["Glibc"]),
        Room("StrictJSON", []),
        Room("Networking", [], system: ["Glibc"]),
        Room("Scheduling", [], system: ["Dispatch", "Synchronization"]),
    ]

    static func named(_ name: String) -> Room? {
        all.first { $0.name == name }
    }
}
