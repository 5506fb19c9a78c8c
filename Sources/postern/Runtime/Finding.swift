/// What one check of `postern doctor` has found.
struct Finding: Equatable, Sendable {
    enum Outcome: String, Sendable {
        case ok, failed
        /// Shown as a warning; it does not change the exit code.
        case caution = "warning"
    }

    let outcome: Outcome
    let subject: String
    let text: String
    let remedy: String?

    /// - Parameter remedy: `nil` if nothing needs to be done, or if `text` already contains it.
    init(_ outcome: Outcome, _ subject: String, _ text: String, _ remedy: String? = nil) {
        self.outcome = outcome
        self.subject = subject
        self.text = text
        self.remedy = remedy
    }

    var line: String {
        let word = outcome.rawValue
        return word + String(repeating: " ", count: 9 - word.utf8.count) + "\(subject): \(text)"
            + (remedy.map { "; \($0)" } ?? "")
    }
}
