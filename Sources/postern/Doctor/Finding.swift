/// What one check of `postern doctor` has found.
struct Finding: Equatable, Sendable {
    enum Level: String, Sendable {
        case ok, warning, failed
    }

    let level: Level
    let subject: String
    let text: String
    /// What the operator can do; `nil` where nothing needs to be done.
    let remedy: String?

    static func ok(_ subject: String, _ text: String) -> Finding {
        Finding(level: .ok, subject: subject, text: text, remedy: nil)
    }

    /// - Parameter remedy: `nil` where `text` says it already.
    static func warning(_ subject: String, _ text: String, _ remedy: String? = nil) -> Finding {
        Finding(level: .warning, subject: subject, text: text, remedy: remedy)
    }

    static func failed(_ subject: String, _ text: String, _ remedy: String? = nil) -> Finding {
        Finding(level: .failed, subject: subject, text: text, remedy: remedy)
    }

    var line: String {
        let level = self.level.rawValue
        return level + String(repeating: " ", count: 9 - level.utf8.count) + "\(subject): \(text)"
            + (remedy.map { "; \($0)" } ?? "")
    }
}
