import Testing

/// The rules, on the repository as it is.
@Suite struct ArchitectureTests {
    /// Read once for all tests.
    private static let loaded = Result {
        (
            sources: try Repository.swiftFiles(under: "Sources"),
            tests: try Repository.swiftFiles(under: "Tests"),
            manifest: try Repository.text(of: "Package.swift")
        )
    }

    private let sources: [SourceFile]
    private let tests: [SourceFile]
    private let targets: [PackageManifest.Target]

    init() throws {
        let manifest: String
        (sources, tests, manifest) = try Self.loaded.get()
        targets = PackageManifest.targets(in: manifest)
        // Rules that are held to nothing hold everywhere.
        try #require(sources.count > 50 && tests.count > 20)
    }

    @Test func everyRoomImportsOnlyWhatTheGraphAllows() {
        expectNone(sources.flatMap(Rules.imports))
    }

    @Test func thePackageDeclaresNoEdgeThatTheGraphLacks() {
        let inSources = targets.filter(\.isInSources)
        #expect(Set(inSources.map(\.name)) == Set(Room.all.map(\.name)))
        for target in inSources {
            let extra = target.dependencies.subtracting(
                Room.named(target.name)?.mayImport ?? [])
            #expect(extra.isEmpty, "\(target.name) → \(extra.sorted())")
        }
    }

    @Test func thereAreAtMostTenRooms() {
        #expect(targets.filter(\.isInSources).count <= 10)
        #expect(Set(sources.map(\.room)).count <= 10)
    }

    @Test func theGraphHasNoCircle() {
        var below: Set<String> = []
        // Each round takes what stands on rooms taken before; a circle is never taken.
        for _ in Room.all {
            for room in Room.all where neighbours(of: room).isSubset(of: below) {
                below.insert(room.name)
            }
        }
        #expect(below.count == Room.all.count)
    }

    @Test func nothingEscapesTheCheckers() {
        expectNone(sources.flatMap(Rules.escapes))
    }

    @Test func nothingIsLeftForLater() {
        expectNone(sources.flatMap(Rules.leftovers))
    }

    @Test func filesAndLinesAreShort() {
        expectNone((sources + tests).flatMap(Rules.length))
        // The formatter passes long comments. In tests a vector may be as long as it is.
        expectNone(sources.flatMap(Rules.width))
    }

    @Test func functionsAreShort() {
        expectNone(sources.flatMap(Rules.functions))
    }

    @Test func onlyRoomsNamedAuthKnowTokens() {
        expectNone(sources.flatMap(Rules.tokens))
    }

    @Test(arguments: Room.all.map(\.name))
    func aRoomSaysWhatItOwnsAndNeverDoes(room: String) {
        expectNone(Rules.opening(of: room, in: sources))
    }

    private func neighbours(of room: Room) -> Set<String> {
        room.mayImport.filter { Room.named($0) != nil }
    }

    private func expectNone(_ violations: [Violation]) {
        for violation in violations { Issue.record("\(violation)") }
    }
}
