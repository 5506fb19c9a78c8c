internal import AuthCore
public import Cryptography
public import Platform
public import Scheduling

/// The signup of an agent: challenge, proof of work, session. It starts again with a new challenge
/// when one has expired.
public struct SignupFlow: Sendable {
    /// The number of challenges that are tried.
    private static let rounds = 5
    /// The part of a challenge's lifetime that is kept for sending the solution.
    private static let margin = Duration.seconds(5)

    let client: AgentAPIClient
    let display: ProgressDisplay
    let threads: Int
    let kernel: Scrypt.Kernel
    /// Set when the request that may create an account is sent. From then on only this process can
    /// receive the API key.
    let committing: AtomicFlag

    public init(
        client: AgentAPIClient, display: ProgressDisplay, threads: Int, kernel: Scrypt.Kernel,
        committing: AtomicFlag
    ) {
        self.client = client
        self.display = display
        self.threads = threads
        self.kernel = kernel
        self.committing = committing
    }

    public func signUp(_ username: String) async throws -> (session: String, account: NewAccount) {
        for round in 1...Self.rounds {
            let challenge = try await client.challenge()
            guard let solution = try await solve(challenge) else { continue }
            committing.set()
            do {
                return try await client.signup(
                    username, challenge: challenge, solution: solution)
            } catch let error as ErrorResponse where error.status == 401 && round < Self.rounds {
                // The challenge was spent or expired meanwhile. A new one costs only work.
                Output.message("the server no longer accepts this challenge; asking for another")
            }
        }
        throw SignupError.neverInTime(threads: threads)
    }

    private func solve(_ challenge: ServerChallenge) async throws -> Solution? {
        let assignment = challenge.assignment
        if !display.isTerminal {
            Output.message(
                "proof of work: difficulty \(assignment.difficulty), about "
                    + "\(Int(assignment.expectedTries)) tries on \(threads) threads")
        }
        let solution = try await display.solve(
            Solver(assignment, threads: threads, kernel: kernel),
            within: max(.seconds(1), challenge.lifetime - Self.margin))
        if solution == nil { Output.message("the challenge has expired; asking for another") }
        return solution
    }
}

/// Why a signup created no account, or why its credentials could not be saved.
public enum SignupError: Error, Equatable, CustomStringConvertible {
    case neverInTime(threads: Int)
    case credentialsExist(path: String)
    case unwritable(path: String, FileError)

    public var description: String {
        switch self {
        case .neverInTime(let threads):
            "several challenges have expired before \(threads) threads found a solution; try again "
                + "later, when the server asks for less work, or on more processors"
        case .credentialsExist(let path):
            "\(path) exists and may hold the only API key of a mailbox, so it was not changed; "
                + "choose another file with --out, or replace it with --force"
        case .unwritable(let path, let error):
            "credentials could not be written to \(path): \(error)"
        }
    }
}
