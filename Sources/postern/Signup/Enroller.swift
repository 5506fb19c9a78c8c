internal import AuthCore

/// An agent's whole signup: challenge, work, session; again with a new challenge when one ran out.
struct Enroller: Sendable {
    /// Challenges that are tried before giving up.
    private static let rounds = 5
    /// Of a challenge's lifetime, what is left for sending the solution.
    private static let margin = Duration.seconds(5)

    let client: AgentClient
    let display: ProgressDisplay
    let threads: Int
    /// Closes when from now on an account may exist that only this process has the key of.
    let committing: Latch

    func enroll(_ username: String) async throws -> (session: String, enrolment: Enrolment) {
        for round in 1...Self.rounds {
            let challenge = try await client.challenge()
            guard let solution = try await solve(challenge) else { continue }
            committing.close()
            do {
                return try await client.signup(
                    username, challenge: challenge, solution: solution)
            } catch let refusal as ServerRefusal where refusal.status == 401 && round < Self.rounds
            {
                // Spent or run out on the way: a new one costs only work.
                Output.complain("the server no longer takes this challenge; asking for another")
            }
        }
        throw SignupFault.neverInTime(threads: threads)
    }

    private func solve(_ challenge: ServerChallenge) async throws -> Solution? {
        let assignment = challenge.assignment
        if !display.isTerminal {
            Output.complain(
                "proof of work: difficulty \(assignment.difficulty), about "
                    + "\(Int(assignment.expectedTries)) tries on \(threads) threads")
        }
        let solution = try await display.solve(
            Solver(assignment, threads: threads),
            within: max(.seconds(1), challenge.lifetime - Self.margin))
        if solution == nil { Output.complain("the challenge ran out; asking for another") }
        return solution
    }
}

/// Why a signup ended without an account.
enum SignupFault: Error, Equatable, CustomStringConvertible {
    case neverInTime(threads: Int)
    case credentialsExist(path: String)
    case unwritable(path: String, FileFault)

    var description: String {
        switch self {
        case .neverInTime(let threads):
            "no solution in time, several times over, on \(threads) threads; try again later, when "
                + "the server asks for less, or on more cores"
        case .credentialsExist(let path):
            "\(path) exists and is left as it is: it may hold the only key to a mailbox; "
                + "choose another --out, or --force to replace it"
        case .unwritable(let path, let fault):
            "credentials could not be written to \(path): \(fault)"
        }
    }
}
