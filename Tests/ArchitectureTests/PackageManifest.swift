/// What Package.swift says about its targets, read as text: the part of its grammar that it uses.
enum PackageManifest {
    struct Target: Equatable {
        let name: String
        /// Names of targets and products.
        let dependencies: Set<String>
        let isInSources: Bool
    }

    /// Targets with Swift sources; not tests, and not C libraries.
    static func targets(in manifest: String) -> [Target] {
        declarations(in: manifest).compactMap { declaration in
            guard let name = literals(after: "name:", in: declaration).first,
                !declaration.contains("publicHeadersPath:")
            else { return nil }
            let listed = literals(after: "dependencies:", in: declaration)
            // A product brings the name of its package, which is no module.
            let packages = declaration.ranges(of: "package:").compactMap { range in
                literals(in: declaration[range.upperBound...]).first
            }
            let products = declaration.ranges(of: ".product(name:").compactMap { range in
                literals(in: declaration[range.upperBound...]).first
            }
            return Target(
                name: name,
                dependencies: Set(listed).subtracting(Set(packages).subtracting(products)),
                isInSources: literals(after: "path:", in: declaration).isEmpty)
        }
    }

    private static func declarations(in manifest: String) -> [String] {
        let code = manifest.split(separator: "\n")
            .filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            .joined(separator: "\n")
        return [".target(", ".executableTarget("].flatMap { opening in
            code.ranges(of: opening).map { range in
                String(balanced(code[range.upperBound...], until: ")"))
            }
        }
    }

    /// - Returns: the strings of the list after `label`, or of what stands up to the next comma.
    private static func literals(after label: String, in declaration: String) -> [String] {
        guard let range = declaration.ranges(of: label).first else { return [] }
        let rest = declaration[range.upperBound...].drop { $0 == " " || $0 == "\n" }
        if rest.first == "[" { return literals(in: balanced(rest.dropFirst(), until: "]")) }
        return literals(in: rest.prefix { $0 != "," })
    }

    private static func balanced(_ text: Substring, until end: Character) -> Substring {
        var depth = 0
        for index in text.indices {
            switch text[index] {
            case "(", "[": depth += 1
            case end where depth == 0: return text[..<index]
            case ")", "]": depth -= 1
            default: break
            }
        }
        return text
    }

    private static func literals(in text: Substring) -> [String] {
        let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }
}
