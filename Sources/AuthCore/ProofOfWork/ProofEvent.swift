/// What happened to a challenge, for metrics.
public enum ProofEvent: String, CaseIterable, Sendable {
    case issued
    /// A client sent one that is forged, expired, of another kind or already used.
    case invalid
    /// The claimed digest has too few leading zero bits. The challenge is not spent.
    case tooEasy = "too_easy"
    /// Its proof was about to be verified.
    case spent
    /// It was spent, and the proof is right.
    case solved
    /// It was spent, and the proof is wrong.
    case wrong
    /// It was made valid again, because the server was busy or the client had sent too many
    /// requests.
    case refunded
}
