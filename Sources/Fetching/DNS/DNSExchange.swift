// All three: which module the compiler takes the system's socket types from depends on the order in
// which it loads them.
internal import CCurl
internal import CResolver
internal import Glibc
internal import Networking

/// One question to one nameserver: in a datagram, then over TCP when the answer does not fit.
///
/// Guarantees to end by its deadline, whatever the server does. Blocks its thread meanwhile.
struct DNSExchange {
    let server: SocketAddress
    /// For the answer in a datagram; then the next server is asked.
    let datagramDeadline: ContinuousClock.Instant
    /// For an answer over TCP. The server is known to answer, so it gets all the time that is left.
    let deadline: ContinuousClock.Instant

    func answer(to query: DNSQuery) throws(DNSError.Cause) -> [UInt8] {
        let reply = try datagram(query)
        // RFC 1035 §4.1.1, TC: the answer is longer than a datagram.
        guard reply[2] & 0x02 != 0 else { return reply }
        return try stream(query)
    }

    private func datagram(_ query: DNSQuery) throws(DNSError.Cause) -> [UInt8] {
        // Connected, so that the kernel drops datagrams from other addresses.
        let socket = try Socket(server, SOCK_DGRAM)
        try socket.connect(to: server, by: datagramDeadline)
        try socket.send(query.bytes)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = try socket.receive(&buffer, by: datagramDeadline)
            let reply = Array(buffer[..<count])
            if query.isAnswered(by: reply) { return reply }
        }
    }

    /// RFC 1035 §4.2.2: each message after its length.
    private func stream(_ query: DNSQuery) throws(DNSError.Cause) -> [UInt8] {
        let socket = try Socket(server, SOCK_STREAM)
        try socket.connect(to: server, by: deadline)
        let count = query.bytes.count
        try socket.send([UInt8(count >> 8), UInt8(truncatingIfNeeded: count)] + query.bytes)
        let length = try socket.receiveAll(2, by: deadline)
        let size = Int(length[0]) << 8 | Int(length[1])
        guard size <= DNSAnswer.maxBytes else { throw .tooLarge }
        let reply = try socket.receiveAll(size, by: deadline)
        guard query.isAnswered(by: reply) else { throw .malformed }
        return reply
    }
}

/// A socket of one exchange, closed with it.
private struct Socket: ~Copyable {
    private let descriptor: Int32

    init(_ address: SocketAddress, _ type: __socket_type) throws(DNSError.Cause) {
        let flags = SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        descriptor = socket(address.family, Int32(type.rawValue | flags), 0)
        guard descriptor >= 0 else { throw .unreachable(errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func connect(
        to address: SocketAddress, by deadline: ContinuousClock.Instant
    ) throws(DNSError.Cause) {
        if address.connect(descriptor) == 0 { return }
        guard errno == EINPROGRESS else { throw .unreachable(errno) }
        try wait(for: POLLOUT, by: deadline)
        var failure: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size)
        guard failure == 0 else { throw .unreachable(failure) }
    }

    /// A question fits into an empty send buffer.
    func send(_ bytes: [UInt8]) throws(DNSError.Cause) {
        let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        guard count == bytes.count else { throw .unreachable(count < 0 ? errno : EMSGSIZE) }
    }

    /// - Returns: how many bytes were read; 0 at the end of a stream.
    func receive(
        _ buffer: inout [UInt8], by deadline: ContinuousClock.Instant
    ) throws(DNSError.Cause) -> Int {
        while true {
            try wait(for: POLLIN, by: deadline)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count >= 0 { return count }
            // poll(2) also reports a datagram that is then dropped for a wrong checksum.
            guard errno == EAGAIN || errno == EINTR else { throw .unreachable(errno) }
        }
    }

    func receiveAll(
        _ count: Int, by deadline: ContinuousClock.Instant
    ) throws(DNSError.Cause) -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            var piece = [UInt8](repeating: 0, count: count - all.count)
            let length = try receive(&piece, by: deadline)
            guard length > 0 else { throw .malformed }
            all += piece[..<length]
        }
        return all
    }

    private func wait(for event: Int32, by deadline: ContinuousClock.Instant) throws(DNSError.Cause)
    {
        while true {
            let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
            guard left > 0 else { throw .timedOut }
            var state = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            if poll(&state, 1, Int32(min(left.rounded(.up), 60_000))) > 0 { return }
        }
    }
}
