internal import AuthCore
internal import HTTPEngine

extension Request {
    /// Whose limits this request counts against.
    var clientAddress: ClientAddress { ClientAddress(bytes: peer.bytes) }
}
