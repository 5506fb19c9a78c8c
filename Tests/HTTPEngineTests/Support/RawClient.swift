import CSocket
import Glibc

@testable import HTTPEngine

/// A client that sends exactly the bytes that it is given, and reads with a time limit.
final class RawClient {
    let descriptor: Int32
    private var isOpen = true

    init(port: UInt16, receiveBuffer: Int32? = nil) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        setTimeout()
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// - Parameter descriptor: a connected socket, which the client owns from now on.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        setTimeout()
    }

    deinit { close() }

    private func setTimeout() {
        var time = timeval(tv_sec: 300, tv_usec: 0)
        let length = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, length)
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// - Returns: false when the server did not take all of it.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress.map { $0 + start }, bytes.count - start,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            start += count
        }
        return true
    }

    /// Ends its output; the server then reads the end of the stream.
    func endInput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Closes with a reset.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        let length = socklen_t(MemoryLayout<linger>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, length)
        close()
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        Glibc.close(descriptor)
    }

    /// Some bytes; empty at the end of the stream, nil after the time limit or a reset.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : Array(buffer[..<count])
    }

    /// Everything up to the end of the stream.
    func receiveToEnd() -> String? {
        var all: [UInt8] = []
        while let bytes = receive() {
            if bytes.isEmpty { return String(decoding: all, as: UTF8.self) }
            all += bytes
        }
        return nil
    }

    /// Everything up to this text, and what came with it.
    func receive(through text: String) -> String {
        var all = ""
        while !all.contains(text), let bytes = receive(), !bytes.isEmpty {
            all += String(decoding: bytes, as: UTF8.self)
        }
        return all
    }
}
