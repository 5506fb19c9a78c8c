/// The store did not answer in time: its writer queue is full or its file is locked.
/// The caller is told to come back (503), never that something is absent.
public struct StoreBusy: Error, Sendable, CustomStringConvertible {
    public init() {}

    public var description: String {
        "the database is busy: somebody else has been writing to it for too long; try again"
    }
}

/// The store's disk is full: nothing was written, what is there can be read. The caller is told to
/// come back (503), the operator to make room.
public struct StoreFull: Error, Sendable, CustomStringConvertible {
    public init() {}

    public var description: String { "the disk that the database is on is full" }
}
