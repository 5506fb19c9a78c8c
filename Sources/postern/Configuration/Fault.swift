/// One thing wrong with the configuration: where, which key, what is wrong, what would be right.
struct Fault: Equatable, Sendable {
    let source: Source
    let key: String
    let problem: String
    /// What is accepted, or how to mend it; a whole clause without a full stop.
    let remedy: String

    var shown: String {
        let place = source.shown
        let subject = place == key || source == .standard ? key : "\(place): \(key)"
        return "\(subject): \(problem); \(remedy)"
    }
}

/// Everything that was wrong, in the order of the sources: one run, one list to work off.
struct ConfigurationFaults: Error, Equatable, CustomStringConvertible {
    let faults: [Fault]

    var description: String {
        let head = faults.count == 1 ? "1 fault" : "\(faults.count) faults"
        return (["\(head) in the configuration:"] + faults.map { "  " + $0.shown })
            .joined(separator: "\n")
    }
}

extension StringProtocol {
    /// The candidate that most likely was meant: the nearest by edit distance, if it is near.
    func nearest(among candidates: some Sequence<String>) -> String? {
        let limit = Swift.max(2, count / 4)
        let ranked = candidates.map { (distance(to: $0), $0) }.min { $0.0 < $1.0 }
        guard let ranked, ranked.0 <= limit else { return nil }
        return ranked.1
    }

    /// Edits (insertion, removal, replacement) that turn this into `other`.
    private func distance(to other: String) -> Int {
        let left = Array(utf8.prefix(100)), right = Array(other.utf8.prefix(100))
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
