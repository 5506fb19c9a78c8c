internal import AuthCore
internal import CPostgres

/// Why a database server did not execute the statements.
enum PostgresFailure: Error {
    /// It answered with an error. Nothing was changed.
    case rejected(SQLFailure)
    /// The connection is lost.
    /// - Parameters:
    ///   - wasSent: whether the server may have received the statements, so that it is unknown
    ///     whether they were executed.
    ///   - cause: for the operator.
    case lost(wasSent: Bool, cause: String)
}

/// An error message of the server, without its text, which may contain values.
struct SQLFailure: Equatable {
    /// SQLSTATE.
    let state: String
    /// The constraint that was violated.
    let constraint: String?
    /// The name of the statement; empty if the server did not reach one.
    let statement: String

    init(state: String, constraint: String? = nil, statement: String = "") {
        self.state = state
        self.constraint = constraint
        self.statement = statement
    }

    /// - Parameter result: a `PGresult` of an error.
    init(_ result: OpaquePointer, statement: String) {
        func field(_ code: Int32) -> String? {
            postern_PQresultErrorField(result, code).map { String(cString: $0) }
        }
        // PG_DIAG_SQLSTATE and PG_DIAG_CONSTRAINT_NAME.
        self.init(
            state: field(Int32(UInt8(ascii: "C"))) ?? "",
            constraint: field(Int32(UInt8(ascii: "n"))), statement: statement)
    }

    /// Whether the same transaction may succeed when it is tried again: a serialisation failure, a
    /// deadlock, or two owners who verify one domain at the same moment.
    var isTransient: Bool {
        state == "40001" || state == "40P01"
            || (state == "23505" && constraint == "domain_verified")
    }

    /// Whether this write has been made before, on a connection that was then lost.
    var isRepetition: Bool { state == "23505" && constraint == "audit_write" }

    /// Whether the server ends the connection or accepts no writes: it is shutting down, or it is
    /// not the primary any more.
    var endsConnection: Bool { state.hasPrefix("57P") || state == "25006" || state == "25P03" }

    /// The error as callers of a store know it.
    var storeError: any Error {
        switch state {
        case "23503": StorageError.unknownOwner
        // Its disk is full.
        case "53100": StoreFull()
        case "55P03": StoreBusy("a row is locked by another transaction for too long")
        case "57014": StoreBusy("a statement took longer than its time limit")
        case "53200", "53300", "53400": StoreBusy("its server lacks memory or connections")
        case _ where isTransient: StoreBusy("transactions have conflicted several times")
        case _ where endsConnection: StoreBusy("its server is stopping, or cannot be written to")
        default: StorageError.failed(statement: statement, code: .sqlState(state))
        }
    }
}
