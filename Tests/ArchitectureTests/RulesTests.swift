import Testing

/// Each rule finds what breaks it, and nothing else.
@Suite struct RulesTests {
    private func file(_ module: String, _ text: String) -> SourceFile {
        SourceFile(path: "Sources/\(module)/Sample.swift", text: text)
    }

    @Test(arguments: [
        "import CSQLite", "internal import CSQLite", "public  import CSQLite.Nested",
        "@preconcurrency internal import CSQLite", "import struct CSQLite.sqlite3",
    ])
    func anImportThatIsNotAllowedIsFound(line: String) {
        let sample = file("AuthAPI", "// CSQLite\n\(line)\n")
        let expected = Violation(
            path: "Sources/AuthAPI/Sample.swift", line: 2, fault: "AuthAPI may not import CSQLite")
        #expect(Rules.imports(sample) == [expected])
    }

    @Test(arguments: [
        "internal import AuthCore", "// import CSQLite",
        "let text = \"\"\"\nimport CSQLite\n\"\"\"",
        "important(CSQLite)", "/* import CSQLite */",
    ])
    func anAllowedImportAndOtherTextAreNotFound(text: String) {
        #expect(Rules.imports(file("AuthAPI", text)).isEmpty)
    }

    @Test func anUnknownModuleIsFound() {
        #expect(Rules.imports(file("Sample", "")).count == 1)
    }

    @Test(arguments: [
        "extension A: @unchecked Sendable {}", "nonisolated(unsafe) var a = 0", "let a = try! b()",
        "a as! B", "DispatchQueue.global().async {}", "attributes: .concurrent)",
        "let s = DispatchSemaphore(value: 0)", "internal import Foundation",
        "\"\\(try! b())\"", "import Foundation.NSDate",
    ])
    func anEscapeIsFound(line: String) {
        #expect(Rules.escapes(file("AuthCore", line)).count == 1)
    }

    @Test(arguments: [
        "// try! is forbidden", "\"as! .concurrent\"", "import FoundationEssentials", "retry!",
        "a.concurrentUses", "/* /* try! */ as! */", "#\"\\(try! b())\"#", "try a as? B",
    ])
    func textThatOnlyLooksLikeAnEscapeIsNotFound(line: String) {
        #expect(Rules.escapes(file("AuthCore", line)).isEmpty)
    }

    @Test(arguments: [
        "a.split(separator: \",\")", "a.firstIndex(of: \":\")", "a.hasPrefix(b)",
    ])
    func takingATextApartByCharactersIsFound(line: String) {
        #expect(Rules.characters(file("AuthAPI", line)).count == 1)
        #expect(Rules.characters(file("postern", line)).isEmpty)
        #expect(
            Rules.characters(file("AuthAPI", "a.split(separator: UInt8(ascii: \",\"))")).isEmpty)
        #expect(Rules.characters(file("AuthAPI", "// \(line)")).isEmpty)
    }

    @Test func leftoversAreFoundInComments() {
        #expect(Rules.leftovers(file("AuthCore", "a\n// TODO: b")).map(\.line) == [2])
        #expect(Rules.leftovers(file("AuthCore", "TODOS")).isEmpty)
    }

    @Test func longLinesAndLongFilesAreFound() {
        let fits = String(repeating: "é", count: 100)
        #expect(Rules.width(file("AuthCore", fits)).isEmpty)
        #expect(Rules.width(file("AuthCore", "\n" + fits + "x")).map(\.line) == [2])
        let most = String(repeating: "\n", count: 400)
        #expect(Rules.length(file("AuthCore", most)).isEmpty)
        #expect(Rules.length(file("AuthCore", most + "\n")).count == 1)
    }

    @Test func longFunctionsAreFound() {
        let body = String(repeating: "    a()\n", count: 68)
        let head = "struct A {\n    func f(\n        _ b: (C) -> D = { d }) async throws\n"
        let fits = "func f() {\n\(body)}\n"
        #expect(Rules.functions(file("AuthCore", fits)).isEmpty)
        #expect(
            Rules.functions(
                file(
                    "AuthCore", "\n\n" + fits.replacing("a()", with: "a()\n{}", maxReplacements: 1))
            )
            .map(\.line) == [3])
        #expect(Rules.functions(file("AuthCore", "init?() {\n\(body)\n\n}")).count == 1)
        #expect(Rules.functions(file("AuthCore", head + "    {\n\(body)    }\n}")).count == 1)
        let requirement = "protocol P {\n    func f()\n    func g()\n}\nenum E {\n\(body)\(body)}\n"
        #expect(Rules.functions(file("AuthCore", requirement)).isEmpty)
    }

    @Test func tokensAreFoundOutsideAuth() {
        #expect(Rules.tokens(file("Scheduling", "let accessToken = 1")).count == 1)
        #expect(Rules.tokens(file("HTTPEngine", "struct TokenBucket {}")).count == 1)
        #expect(Rules.tokens(file("HTTPEngine", "ASCII.isToken(byte) // tokens")).isEmpty)
        #expect(Rules.tokens(file("Scheduling", "\"token\"")).isEmpty)
        #expect(Rules.tokens(file("AuthCore", "struct Token {}")).isEmpty)
    }

    @Test(arguments: [
        "", "// Sample: a module. Owns a type.\n", "\n// Sample: owns, never shares.\n",
    ])
    func anOpeningThatSaysTooLittleIsFound(text: String) {
        let files = [SourceFile(path: "Sources/Sample/Sample.swift", text: text)]
        #expect(Rules.opening(of: "Sample", in: files).count == 1)
        #expect(Rules.opening(of: "Sample", in: []).count == 1)
    }

    @Test func anOpeningMayBeInAFolder() {
        let text = "// Sample: a module.\n//\n// Owns a type. Never shares it.\n"
        let files = [SourceFile(path: "Sources/Sample/In/sample.swift", text: text)]
        #expect(Rules.opening(of: "Sample", in: files).isEmpty)
    }

    @Test func foldersThatUseEachOtherAreFound() {
        func files(_ one: String, _ other: String) -> [SourceFile] {
            [
                SourceFile(path: "Sources/Sample/Low/A.swift", text: one),
                SourceFile(path: "Sources/Sample/High/B.swift", text: other),
            ]
        }
        let high = "public struct B { let a: A }"
        #expect(Rules.folderCycles(in: files("struct A { let b: B }", high)).count == 1)
        #expect(Rules.folderCycles(in: files("struct A {} // B", high)).isEmpty)
        // `B` is a type of its own in each file: neither uses the other's.
        let own = "struct A {}\nstruct B {}\nlet b = B()"
        #expect(Rules.folderCycles(in: files(own, high)).isEmpty)
    }
}

@Suite struct PackageManifestTests {
    @Test func targetsAndTheirEdgesAreRead() {
        let manifest = """
            products: [.executable(name: "a", targets: ["a"])],
            dependencies: [.package(url: "https://x", exact: "1")],
            targets: [
                // .target(name: "ghost", dependencies: ["B"]),
                .executableTarget(
                    name: "a",
                    dependencies: ["B", .product(name: "P", package: "q"), "C"]),
                .target(name: "B", dependencies: ["C"], exclude: ["d"]),
                .target(name: "C"),
                .target(name: "Kit", path: "Tests/Kit"),
                .testTarget(name: "BTests", dependencies: ["B"]),
                .systemLibrary(name: "L"),
            ]
            """
        let targets = PackageManifest.targets(in: manifest)
        let expected = [
            PackageManifest.Target(name: "B", dependencies: ["C"], isInSources: true),
            .init(name: "C", dependencies: [], isInSources: true),
            .init(name: "Kit", dependencies: [], isInSources: false),
            .init(name: "a", dependencies: ["B", "P", "C"], isInSources: true),
        ]
        #expect(targets.sorted { $0.name < $1.name } == expected)
    }
}

@Suite struct CodeScannerTests {
    @Test(arguments: [
        ("a // b", "a "), ("a /* b\n/* c */ */ d", "a \n d"), ("\"a\" b", "\"\" b"),
        ("\"a\\\"b\" c", "\"\" c"), ("\"a\\(b)c\" d", "\" b\" d"),
        ("\"\\(f(\"x\"))\" y", "\" f(\"\")\" y"),
        ("\"\"\"\na \"b\" \\(c)\n\"\"\" d", "\"\n c\n\" d"), ("#\"a\"b\\(c)\"# d", "\"\" d"),
        ("#\"a\\#(b)\"# d", "\" b\" d"), ("\"//\" // x", "\"\" "), ("(a) b)", "(a) b)"),
    ])
    func codeIsSeparatedFromCommentsAndStrings(text: String, code: String) {
        #expect(CodeScanner.code(in: text) == code)
    }

    @Test(arguments: ["\"", "/*", "\"\\(", "\"\\", "#\"", "\"\"\"", ")", "/* *"])
    func unfinishedTextIsAccepted(text: String) {
        #expect(CodeScanner.code(in: text).count <= text.count)
    }
}
