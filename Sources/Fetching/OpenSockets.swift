internal import CCurl

/// The sockets that libcurl has opened for the connections of one ``TransferLoop``. Used on its
/// thread only.
///
/// Sends acknowledgements of TCP without the delay of up to 40 ms. Cyrus IMAP writes a response in
/// pieces of 4096 bytes and leaves Nagle's algorithm on, so its system sends the last piece only
/// after the others were acknowledged. Linux has no setting for that which lasts.
final class OpenSockets {
    private var descriptors: Set<Int32> = []

    /// A pointer to this object, which libcurl passes to its callbacks until the last connection is
    /// closed.
    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private static func from(_ context: UnsafeMutableRawPointer?) -> OpenSockets {
        guard let context else { preconditionFailure("libcurl lost the context it was given") }
        return Unmanaged<OpenSockets>.fromOpaque(context).takeUnretainedValue()
    }

    /// Makes libcurl report the sockets of a transfer to this object.
    func options(_ handle: UnsafeMutableRawPointer) -> [CURLcode] {
        [
            postern_curl_set_opener(handle) { context, _, peer in
                guard let peer else { return -1 }
                let descriptor = postern_curl_open_socket(peer)
                if descriptor >= 0 { OpenSockets.from(context).descriptors.insert(descriptor) }
                return descriptor
            },
            postern_curl_set_context(handle, CURLOPT_OPENSOCKETDATA, context),
            postern_curl_set_closer(handle) { context, descriptor in
                OpenSockets.from(context).descriptors.remove(descriptor)
                return postern_curl_close_socket(descriptor)
            },
            postern_curl_set_context(handle, CURLOPT_CLOSESOCKETDATA, context),
        ]
    }

    /// Acknowledges what was received.
    func acknowledge() {
        for descriptor in descriptors { postern_curl_acknowledge(descriptor) }
    }
}
