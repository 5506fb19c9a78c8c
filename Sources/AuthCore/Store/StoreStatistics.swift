public import Scheduling

/// The work of a database for this process since it was opened, for metrics.
public struct StoreStatistics: Sendable {
    public struct Statement: Sendable {
        /// Its name in the source.
        public let name: String
        /// How often it ran.
        public let count: Int
        public let nanoseconds: Int

        public init(name: String, count: Int, nanoseconds: Int) {
            self.name = name
            self.count = count
            self.nanoseconds = nanoseconds
        }
    }

    /// Writes or look-ups that are done together.
    public struct Batches: Sendable {
        public let name: String
        /// How many were done together.
        public let sizes: Histogram
        /// How many wait now.
        public let waiting: Int

        public init(name: String, sizes: Histogram, waiting: Int) {
            self.name = name
            self.sizes = sizes
            self.waiting = waiting
        }
    }

    /// Those that have run, by name.
    public var statements: [Statement]
    /// On SQLite the time from the beginning of a transaction to the end of its commit. On
    /// PostgreSQL the time from sending statements to their results.
    public var transactions: Histogram
    public var batches: [Batches]
    /// The connections to a database server, and the number of open ones; `nil` without such a
    /// server.
    public var connections: (pool: WorkerPool.Statistics, open: Int)?

    public init(
        statements: [Statement], transactions: Histogram, batches: [Batches],
        connections: (pool: WorkerPool.Statistics, open: Int)? = nil
    ) {
        self.statements = statements
        self.transactions = transactions
        self.batches = batches
        self.connections = connections
    }
}
