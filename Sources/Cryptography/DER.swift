/// OpenSSL's `i2d` functions: asked once for the length, once for the bytes.
enum DER {
    typealias Encoder = (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32

    static func bytes(_ encode: Encoder) -> [UInt8]? {
        let count = Int(encode(nil))
        guard count > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: count) { target, written in
            var cursor = target.baseAddress
            written = Int(encode(&cursor))
        }
    }
}
