import Testing

/// The rules, applied to this repository.
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
        // Without files every rule would hold.
        try #require(sources.count > 50 && tests.count > 20)
    }

    @Test func everyModuleImportsOnlyWhatTheGraphAllows() {
        expectNone(sources.flatMap(Rules.imports))
    }

    @Test func thePackageDeclaresNoEdgeThatTheGraphLacks() {
        let inSources = targets.filter(\.isInSources)
        #expect(Set(inSources.map(\.name)) == Set(Module.all.map(\.name)))
        for target in inSources {
            let extra = target.dependencies.subtracting(
                Module.named(target.name)?.mayImport ?? [])
            #expect(extra.isEmpty, "\(target.name) → \(extra.sorted())")
        }
    }

    /// Versions of SwiftPM refuse products of a package that has them, when it is a dependency by
    /// version.
    @Test func noTargetHasUnsafeFlags() throws {
        #expect(!(try Repository.text(of: "Package.swift")).contains("unsafeFlags"))
    }

    @Test func theGraphHasNoCycle() {
        var below: Set<String> = []
        // Each round takes the modules that use only modules taken before; a cycle is never taken.
        for _ in Module.all {
            for module in Module.all where neighbours(of: module).isSubset(of: below) {
                below.insert(module.name)
            }
        }
        #expect(below.count == Module.all.count)
    }

    @Test func theFoldersOfAModuleUseEachOtherInOneDirection() {
        expectNone(Rules.folderCycles(in: sources))
    }

    @Test func nothingSwitchesOffTheCheckers() {
        expectNone(sources.flatMap(Rules.escapes))
    }

    @Test func textsFromTheNetworkAreTakenApartByBytes() {
        expectNone(sources.flatMap(Rules.characters))
    }

    @Test func nothingIsLeftForLater() {
        expectNone(sources.flatMap(Rules.leftovers))
    }

    @Test func filesAndLinesAreShort() {
        expectNone((sources + tests).flatMap(Rules.length))
        // The formatter accepts long comments. In tests a test vector may be long.
        expectNone(sources.flatMap(Rules.width))
    }

    @Test func functionsAreShort() {
        expectNone(sources.flatMap(Rules.functions))
    }

    @Test func onlyModulesNamedAuthKnowTokens() {
        expectNone(sources.flatMap(Rules.tokens))
    }

    @Test(arguments: Module.all.map(\.name))
    func aModuleStatesWhatItOwnsAndNeverDoes(module: String) {
        expectNone(Rules.opening(of: module, in: sources))
    }

    private func neighbours(of module: Module) -> Set<String> {
        module.mayImport.filter { Module.named($0) != nil }
    }

    private func expectNone(_ violations: [Violation]) {
        for violation in violations { Issue.record("\(violation)") }
    }
}
