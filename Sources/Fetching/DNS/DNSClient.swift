internal import Scheduling

/// Looks up TXT and MX records, from a pool of its own: whoever waits for a nameserver must keep
/// nobody else waiting.
///
/// Promises: at most `lanes` look-ups at once and `depth` waiting; every look-up ends within the
/// timeout, the time in the queue counted; no answer larger than ``DNSAnswer/limit`` is kept. The
/// search list and the hosts file are not consulted: a name is asked for as it stands.
public final class DNSClient: Sendable {
    private let pool: WorkerPool
    private let servers: [SocketAddress]
    private let timeout: Duration

    /// - Parameters:
    ///   - servers: asked in this order; the system's, as they are at each look-up, when empty.
    ///   - timeout: for all of it: the queue, every server, every repetition.
    public init(
        servers: [NameServer] = [], timeout: Duration = .seconds(5), lanes: Int = 4, depth: Int = 64
    ) {
        pool = WorkerPool(name: "dns", lanes: lanes, depth: depth)
        self.servers = servers.compactMap(SocketAddress.init)
        self.timeout = timeout
    }

    /// The TXT records at `name`, the strings of each joined (RFC 7208 §3.3); empty when there are
    /// none or the name does not exist.
    /// - Throws: ``DNSFault``, or `CancellationError` when cancelled before it began.
    public func texts(at name: String) async throws -> [String] {
        try await look(up: name, .text).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The hosts of the MX records at `name`, the most preferred first, in lower case and without a
    /// dot at the end. A null MX (RFC 7505) is the empty host.
    /// - Throws: as ``texts(at:)``.
    public func mailExchangers(of name: String) async throws -> [String] {
        try await look(up: name, .mailExchanger).map { String(decoding: $0, as: UTF8.self) }
    }

    private func look(up name: String, _ kind: DNSAnswer.Kind) async throws -> [[UInt8]] {
        let deadline = ContinuousClock.now + timeout
        do {
            return try await pool.run { [servers] in
                let query = try DNSQuery(name, kind)
                let servers = servers.isEmpty ? try SocketAddress.system() : servers
                return try query.put(to: servers, by: deadline)
            }
        } catch is WorkerPool.Full {
            throw DNSFault.busy
        }
    }
}

extension DNSQuery {
    /// Each server is asked again when all were silent: a datagram may be lost.
    private static let rounds = 2

    /// - Returns: the values of the first answer that settles the matter.
    /// - Throws: what went wrong with the last server.
    fileprivate func put(
        to servers: [SocketAddress], by deadline: ContinuousClock.Instant
    ) throws(DNSFault) -> [[UInt8]] {
        var fault = DNSFault.timedOut
        let turns = servers.count * Self.rounds
        for turn in 0..<turns {
            let now = ContinuousClock.now
            guard now < deadline else { break }
            // What is left is shared by those that are left.
            let share = now.duration(to: deadline) / (turns - turn)
            do throws(DNSFault) {
                let exchange = DNSExchange(
                    address: servers[turn % servers.count], deadline: now + share)
                return try DNSAnswer(try exchange.answer(to: self, overall: deadline)).values(kind)
            } catch .tooLarge {
                throw .tooLarge
            } catch {
                fault = error
            }
        }
        throw fault
    }
}
