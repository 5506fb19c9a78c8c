/// The errors of one flow (agents, accounts, hash logins): its own cases and the common ones.
///
/// A use case throws the enum of its flow and nothing else, so each API renders its errors in one
/// exhaustive `switch` without a case that cannot happen.
public protocol FlowError: Error, Sendable {
    static func common(_ error: CommonError) -> Self

    /// The common error that this is, if it is one.
    var common: CommonError? { get }

    /// Whether a token that was presented is not valid.
    var isRejectedToken: Bool { get }
}

extension FlowError {
    /// Whether the request failed because the server was busy or the client has sent too many. Its
    /// challenge is then made valid again.
    var isTemporary: Bool {
        switch common {
        case .busy, .rateLimited: true
        case .malformedRequest, .unsupportedMediaType, .failed, nil: false
        }
    }
}

/// Use cases of one flow.
protocol UseCases: Sendable {
    associatedtype Failure: FlowError
}

extension UseCases {
    /// Makes a call to a store, a pool or a library, and throws its errors as the common part of
    /// this flow's error.
    func attempt<T>(_ call: @autoclosure () async throws -> T) async throws(Failure) -> T {
        do {
            return try await call()
        } catch {
            throw .common(CommonError(error))
        }
    }

    /// The same for a call that does not suspend.
    func attemptNow<T: ~Copyable>(_ call: @autoclosure () throws -> T) throws(Failure) -> T {
        do {
            return try call()
        } catch {
            throw .common(CommonError(error))
        }
    }
}
