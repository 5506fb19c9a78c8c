// All of them: whose copy of the system's socket types the compiler means depends on which module
// it has met first.
internal import CCurl
internal import CResolver
internal import Glibc

/// One question put to one nameserver: in a datagram, then over TCP when the answer does not fit.
///
/// Promises to end by its deadline, whatever the server does. Blocks meanwhile.
struct DNSExchange {
    let address: SocketAddress
    /// For the answer by datagram.
    let deadline: ContinuousClock.Instant

    /// - Parameter overall: for an answer that needs TCP; the server is there, so it is worth
    ///   waiting for.
    func answer(
        to query: DNSQuery, overall: ContinuousClock.Instant
    ) throws(DNSFault) -> [UInt8] {
        let reply = try datagram(query)
        // RFC 1035 §4.1.1, TC: there is more than fits.
        guard reply[2] & 0x02 != 0 else { return reply }
        return try stream(query, overall)
    }

    private func datagram(_ query: DNSQuery) throws(DNSFault) -> [UInt8] {
        // Connected, so that the kernel drops what others send.
        let socket = try Socket(address, SOCK_DGRAM)
        guard try socket.connect(to: address, by: deadline),
            socket.send(query.octets) == query.octets.count
        else { throw .unreachable }
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = try socket.receive(&buffer, by: deadline)
            let reply = Array(buffer[..<count])
            if query.isAnswered(by: reply) { return reply }
        }
    }

    /// RFC 1035 §4.2.2: each message behind its length.
    private func stream(
        _ query: DNSQuery, _ deadline: ContinuousClock.Instant
    ) throws(DNSFault) -> [UInt8] {
        let socket = try Socket(address, SOCK_STREAM)
        guard try socket.connect(to: address, by: deadline) else { throw .unreachable }
        let count = query.octets.count
        let message = [UInt8(count >> 8), UInt8(truncatingIfNeeded: count)] + query.octets
        // An empty send buffer takes it whole.
        guard socket.send(message) == message.count else { throw .unreachable }
        let length = try socket.receiveAll(2, by: deadline)
        let size = Int(length[0]) << 8 | Int(length[1])
        guard size <= DNSAnswer.limit else { throw .tooLarge }
        let reply = try socket.receiveAll(size, by: deadline)
        guard query.isAnswered(by: reply) else { throw .malformed }
        return reply
    }
}

/// A socket of one exchange, closed with it.
private struct Socket: ~Copyable {
    private let descriptor: Int32

    init(_ address: SocketAddress, _ type: __socket_type) throws(DNSFault) {
        let flags = SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        descriptor = socket(address.family, Int32(type.rawValue | flags), 0)
        guard descriptor >= 0 else { throw .unreachable }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func connect(
        to address: SocketAddress, by deadline: ContinuousClock.Instant
    ) throws(DNSFault) -> Bool {
        let result = address.withSockaddr { Glibc.connect(descriptor, $0, $1) }
        if result == 0 { return true }
        guard errno == EINPROGRESS else { return false }
        try wait(for: POLLOUT, by: deadline)
        var failure: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size)
        return failure == 0
    }

    func send(_ octets: [UInt8]) -> Int {
        Glibc.send(descriptor, octets, octets.count, Int32(MSG_NOSIGNAL))
    }

    /// - Returns: how many octets came; 0 at the end of a stream.
    func receive(
        _ buffer: inout [UInt8], by deadline: ContinuousClock.Instant
    ) throws(DNSFault) -> Int {
        while true {
            try wait(for: POLLIN, by: deadline)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count >= 0 { return count }
            // What poll announced may be gone: a datagram with a wrong checksum.
            guard errno == EAGAIN || errno == EINTR else { throw .unreachable }
        }
    }

    func receiveAll(
        _ count: Int, by deadline: ContinuousClock.Instant
    ) throws(DNSFault) -> [UInt8] {
        var all: [UInt8] = []
        while all.count < count {
            var piece = [UInt8](repeating: 0, count: count - all.count)
            let length = try receive(&piece, by: deadline)
            guard length > 0 else { throw .malformed }
            all += piece[..<length]
        }
        return all
    }

    private func wait(for event: Int32, by deadline: ContinuousClock.Instant) throws(DNSFault) {
        while true {
            let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
            guard left > 0 else { throw .timedOut }
            var state = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            if poll(&state, 1, Int32(min(left.rounded(.up), 60_000))) > 0 { return }
        }
    }
}
