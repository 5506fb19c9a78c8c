/// Why a proof of work is not accepted.
public enum ProofOfWorkError: FlowError {
    /// The challenge is missing, forged, expired, of another kind or already used.
    case invalidChallenge
    /// The claimed digest has too few leading zero bits. The challenge is not spent.
    case tooEasy(required: Int, found: Int)
    /// The nonce does not solve the challenge. The challenge is spent.
    case wrongSolution
    case common(CommonError)

    /// The flow has its own case for it.
    public var isRejectedToken: Bool { false }

    public var common: CommonError? {
        if case .common(let error) = self { error } else { nil }
    }
}

extension AgentError {
    init(_ error: ProofOfWorkError) {
        switch error {
        case .invalidChallenge: self = .invalidChallenge
        case .tooEasy(let required, let found):
            self = .proofTooEasy(required: required, found: found)
        case .wrongSolution: self = .wrongProof
        case .common(let error): self = .common(error)
        }
    }
}

extension AccountsError {
    init(_ error: ProofOfWorkError) {
        switch error {
        case .invalidChallenge: self = .invalidChallenge
        case .tooEasy, .wrongSolution: self = .wrongProof
        case .common(let error): self = .common(error)
        }
    }
}
