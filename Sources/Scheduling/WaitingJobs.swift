internal import Networking

/// The job that a lane of a pool runs for one caller.
struct PoolJob: Sendable {
    enum Work: Sendable {
        case single(@Sendable () -> Void)
        /// Gets the index of the lane, which runs no other job until the caller gives it back.
        case keepingLane(@Sendable (Int) -> Void)
        /// One input of a batch; `key` is its name there.
        case batched(Batch, key: UInt64)
    }

    let work: Work
    /// Tells the caller that its job will not run.
    let cancel: @Sendable () -> Void
    /// Since the pool got it.
    let age = ElapsedTime()

    /// The job by itself.
    var pass: Pass {
        switch work {
        case .single(let run): Pass { _ in run() }
        case .keepingLane(let run): Pass(run: run, keepsLane: true)
        case .batched(let batch, let key): Pass { _ in batch.run([key]) }
        }
    }
}

/// What a lane runs at once: a job, or the inputs of a batch.
struct Pass: Sendable {
    /// Gets the index of the lane.
    let run: @Sendable (Int) -> Void
    /// Whether the lane is still in use when `run` has returned.
    var keepsLane = false
}

/// A ``BatchWork`` without the types of its inputs.
struct Batch: Sendable {
    let id: ObjectIdentifier
    /// The most inputs of one pass.
    let limit: Int
    /// Gets the keys of the inputs.
    let run: @Sendable ([UInt64]) -> Void
}

/// The jobs of a pool that wait for a lane, in the order in which they are to run, and which of
/// them run together.
///
/// A pass begins with the job whose turn it is among all (``FairQueue``). If that is an input of a
/// batch, others of the same batch join it, up to the limit of the batch. Among these, sites and
/// clients take turns in the same way. Inputs that join do not use up a turn among all jobs, and no
/// other job loses its turn. So a job waits for as many passes as it would otherwise wait for
/// single jobs.
struct WaitingJobs: Sendable {
    private struct Entry: Sendable {
        let job: PoolJob
        let ticket: UInt64
        let client: IPAddress?
    }

    private var all = FairQueue<Entry>()
    /// The jobs of each batch that has any; they are in `all`, too.
    private var batches: [ObjectIdentifier: FairQueue<Entry>] = [:]
    /// How long jobs that were run had waited.
    private(set) var waits = Histogram.durations

    var count: Int { all.count }

    /// - Parameters:
    ///   - ticket: a number that no other job here has.
    ///   - client: as in ``FairQueue/append(_:ticket:of:)``.
    mutating func append(_ job: PoolJob, ticket: UInt64, of client: IPAddress?) {
        let entry = Entry(job: job, ticket: ticket, client: client)
        all.append(entry, ticket: ticket, of: client)
        if case .batched(let batch, _) = job.work {
            batches[batch.id, default: FairQueue()].append(entry, ticket: ticket, of: client)
        }
    }

    /// Counts a job that has found a free lane, and so did not wait here.
    mutating func countRunAtOnce() { waits.record(0) }

    /// Removes the jobs of the next pass.
    mutating func popPass() -> Pass? {
        guard let first = all.popFirst() else { return nil }
        waits.record(first.job.age.nanoseconds)
        guard case .batched(let batch, let key) = first.job.work else { return first.job.pass }
        removeFromBatch(first, takesTurn: true)
        var keys = [key]
        while keys.count < batch.limit, let next = batches[batch.id]?.popFirst() {
            _ = all.remove(next.ticket, of: next.client)
            waits.record(next.job.age.nanoseconds)
            if case .batched(_, let key) = next.job.work { keys.append(key) }
        }
        forgetIfEmpty(batch)
        return Pass { [keys] _ in batch.run(keys) }
    }

    /// Removes a job before its turn.
    /// - Returns: `nil` when it is not here.
    mutating func remove(_ ticket: UInt64, of client: IPAddress?) -> PoolJob? {
        guard let entry = all.remove(ticket, of: client) else { return nil }
        removeFromBatch(entry)
        return entry.job
    }

    private mutating func removeFromBatch(_ entry: Entry, takesTurn: Bool = false) {
        guard case .batched(let batch, _) = entry.job.work else { return }
        _ = batches[batch.id]?.remove(entry.ticket, of: entry.client, takesTurn: takesTurn)
        forgetIfEmpty(batch)
    }

    private mutating func forgetIfEmpty(_ batch: Batch) {
        if batches[batch.id]?.count == 0 { batches[batch.id] = nil }
    }
}
