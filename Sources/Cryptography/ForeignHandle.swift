/// The address of an object that a C library made, in a form that may cross threads.
///
/// `OpaquePointer` is not `Sendable`, for good reason: the compiler cannot know what is behind it.
/// Whoever stores a handle vouches for three things: the object is not changed after it was
/// stored, the library documents that such an object may be read by several threads at once, and it is
/// freed in exactly one place, the owner's `deinit`, or never.
struct ForeignHandle: Sendable {
    private let address: UInt

    init(_ pointer: OpaquePointer) {
        address = UInt(bitPattern: pointer)
    }

    /// Never `nil`; optional because that is what C functions take.
    var pointer: OpaquePointer? {
        OpaquePointer(bitPattern: address)
    }
}
