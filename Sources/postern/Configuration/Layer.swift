/// What one source said: raw values by key, and what was already wrong with them.
struct Layer: Sendable {
    struct Entry: Sendable {
        let raw: RawValue
        let source: Source
    }

    var entries: [String: Entry] = [:]
    var faults: [Fault] = []

    mutating func refuse(_ key: String, at source: Source, _ problem: String, _ remedy: String) {
        faults.append(Fault(source: source, key: key, problem: problem, remedy: remedy))
    }
}
