import Platform

@testable import Configuration

/// The text as a file of settings, and its lines `name=value` as variables of the environment: they
/// are a configuration, or faults that say where they are. Not as a file with brackets: the TOML
/// parser aborts on some that are not TOML (``ConfigFile``).
func checkConfiguration(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    var loader = ConfigLoader(path: "a.toml")
    loader.readFile = { path throws(FileError) in
        guard path == "a.toml" else { throw .missing }
        return text
    }
    if !input.contains(where: { "[]{}".utf8.contains($0) }) { check(loader, lines: lines.count) }
    var variables = ConfigLoader()
    variables.readFile = { _ throws(FileError) in throw .missing }
    for line in lines {
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
        let name = String(Substring(line[..<equals])).filter { !$0.isWhitespace }
        variables.environment["POSTERN_" + name.uppercased()] =
            String(Substring(line[line.index(after: equals)...]))
    }
    check(variables, lines: 0)
}

private func check(_ loader: ConfigLoader, lines: Int) {
    do throws(ConfigFaults) {
        _ = try loader.load()
    } catch {
        precondition(!error.faults.isEmpty)
        for fault in error.faults {
            precondition(!fault.shown.isEmpty)
            guard case .file(_, let line?) = fault.source else { continue }
            precondition((1...max(1, lines)).contains(line), "a fault is in line \(line)")
        }
    }
}
