internal import Networking

/// Jobs that wait, in the order in which they are to run.
///
/// The sites that have jobs are taken in turn (``Turns``), then the clients of a site, then the
/// jobs of a client in the order of their arrival. So the waiting time of a client depends on the
/// number of sites with jobs, and not on the number of their jobs or addresses. Jobs of the server
/// itself have no client and count as one site.
struct FairQueue<Job: Sendable>: Sendable {
    private struct Entry: Sendable {
        let ticket: UInt64
        let job: Job
    }

    private(set) var count = 0
    /// The jobs of each client that has any.
    private var jobs: [IPBlock?: [Entry]] = [:]
    /// The clients that have jobs, by site.
    private var clients: [IPBlock?: Turns<IPBlock?>] = [:]
    /// The sites that have jobs.
    private var sites = Turns<IPBlock?>()

    /// - Parameters:
    ///   - ticket: a number that no other job in the queue has.
    ///   - address: of the client; `nil` for the server's own work.
    mutating func append(_ job: Job, ticket: UInt64, of address: IPAddress?) {
        let client = address?.client
        let site = address?.site
        count += 1
        let isFirst = jobs[client] == nil
        jobs[client, default: []].append(Entry(ticket: ticket, job: job))
        guard isFirst else { return }
        if clients[site] == nil { sites.enter(site) }
        clients[site, default: Turns()].enter(client)
    }

    /// Removes the job that is to run next.
    mutating func popFirst() -> Job? {
        guard let site = sites.next(), var turns = clients.removeValue(forKey: site),
            let client = turns.next(), var queue = jobs.removeValue(forKey: client)
        else { return nil }
        count -= 1
        let entry = queue.removeFirst()
        if !queue.isEmpty {
            jobs[client] = queue
            turns.enterAgain(client)
        }
        if !turns.isEmpty {
            clients[site] = turns
            sites.enterAgain(site)
        }
        return entry.job
    }

    /// Removes a job before its turn.
    /// - Parameter takesTurn: whether this counts as a turn of its client and site. Otherwise they
    ///   keep the turn that they wait for.
    /// - Returns: `nil` when it is not in the queue.
    mutating func remove(
        _ ticket: UInt64, of address: IPAddress?, takesTurn: Bool = false
    ) -> Job? {
        let client = address?.client
        let site = address?.site
        guard let index = jobs[client]?.firstIndex(where: { $0.ticket == ticket }),
            let entry = jobs[client]?.remove(at: index)
        else { return nil }
        count -= 1
        let isLast = jobs[client]?.isEmpty == true
        if isLast { jobs[client] = nil }
        if isLast || takesTurn { clients[site]?.leave(client) }
        if !isLast && takesTurn { clients[site]?.enterAgain(client) }
        let isLastOfSite = clients[site]?.isEmpty == true
        if isLastOfSite { clients[site] = nil }
        if isLastOfSite || takesTurn { sites.leave(site) }
        if !isLastOfSite && takesTurn { sites.enterAgain(site) }
        return entry.job
    }
}

/// The order in which keys with work take turns.
///
/// Keys that have just got work, and keys that have had a turn and have more work, wait in two
/// lists, each in order. The next key is taken from the two lists alternately. So a key that rarely
/// has work waits for at most one turn of the busy keys, however many there are.
private struct Turns<Key: Hashable & Sendable>: Sendable {
    private var new: [Key] = []
    private var served: [Key] = []
    private var prefersNew = true

    var isEmpty: Bool { new.isEmpty && served.isEmpty }

    /// For a key that had no work until now.
    mutating func enter(_ key: Key) {
        new.append(key)
    }

    /// For a key that has had its turn and has more work.
    mutating func enterAgain(_ key: Key) {
        served.append(key)
    }

    mutating func next() -> Key? {
        let takesNew = !new.isEmpty && (prefersNew || served.isEmpty)
        prefersNew = !takesNew
        if takesNew { return new.removeFirst() }
        return served.isEmpty ? nil : served.removeFirst()
    }

    mutating func leave(_ key: Key) {
        new.removeAll { $0 == key }
        served.removeAll { $0 == key }
    }
}
