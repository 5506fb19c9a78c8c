/// One fault of the configuration: its place, the key, the problem and the accepted values.
public struct ConfigFault: Equatable, Sendable {
    let source: ConfigSource
    let key: String
    let problem: String
    /// What is accepted, or how to correct it; a clause without a full stop.
    let remedy: String

    public init(source: ConfigSource, key: String, problem: String, remedy: String) {
        self.source = source
        self.key = key
        self.problem = problem
        self.remedy = remedy
    }

    public var shown: String {
        let place = source.shown
        let subject = place == key || source == .defaultValue ? key : "\(place): \(key)"
        return "\(subject): \(problem); \(remedy)"
    }
}

/// All faults of a configuration, in the order of the sources.
public struct ConfigFaults: Error, Equatable, CustomStringConvertible {
    public let faults: [ConfigFault]

    public init(faults: [ConfigFault]) {
        self.faults = faults
    }

    public var description: String {
        let head = faults.count == 1 ? "1 fault" : "\(faults.count) faults"
        return (["\(head) in the configuration:"] + faults.map { "  " + $0.shown })
            .joined(separator: "\n")
    }
}

/// The source of a value, so that the operator knows where to correct it.
public enum ConfigSource: Equatable, Sendable {
    case defaultValue
    case file(path: String, line: Int?)
    case variable(String)
    /// A file that a `…_FILE` variable names. Its content may be secret and is never shown.
    case secretFile(variable: String, path: String)
    case flag(String)
    /// A listening socket of the service manager, by its name.
    case inheritedSocket(name: String)

    var shown: String {
        switch self {
        case .defaultValue: "default"
        case .file(let path, let line): line.map { "\(path):\($0)" } ?? path
        case .variable(let name): name
        case .secretFile(let variable, let path): "\(variable) (\(path))"
        case .flag(let name): name
        case .inheritedSocket(let name): "the inherited socket \(name)"
        }
    }

    /// Whether values from here must not be printed.
    var isSecret: Bool {
        if case .secretFile = self { return true }
        return false
    }
}

/// The raw values of one source by key, and the faults that were found while it was read.
public struct ConfigLayer: Sendable {
    public struct Entry: Sendable {
        let raw: RawValue
        let source: ConfigSource

        public init(raw: RawValue, source: ConfigSource) {
            self.raw = raw
            self.source = source
        }
    }

    public var entries: [String: Entry] = [:]
    var faults: [ConfigFault] = []

    public init() {}

    public mutating func addFault(
        _ key: String, at source: ConfigSource, _ problem: String, _ remedy: String
    ) {
        faults.append(ConfigFault(source: source, key: key, problem: problem, remedy: remedy))
    }
}

extension StringProtocol {
    /// The candidate with the smallest edit distance, if it is small enough for a misspelling.
    public func nearest(among candidates: some Sequence<String>) -> String? {
        let limit = Swift.max(2, count / 4)
        let ranked = candidates.map { (distance(to: $0), $0) }.min { $0.0 < $1.0 }
        guard let ranked, ranked.0 <= limit else { return nil }
        return ranked.1
    }

    /// The number of edits (insertion, removal, replacement) that turn this into `other`.
    private func distance(to other: String) -> Int {
        let left = Array(utf8.prefix(100))
        let right = Array(other.utf8.prefix(100))
        var row = Array(0...right.count)
        for (i, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, against) in right.enumerated() {
                let replaced = diagonal + (byte == against ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = Swift.min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[right.count]
    }
}
