/// The address of an object that a C library made, in a form that may cross threads.
///
/// `OpaquePointer` is not `Sendable`, for good reason: the compiler cannot know what is behind it.
/// Whoever stores a handle vouches for three things: the object is not changed after it was
/// stored, the library documents that such an object may be read by several threads at once, and it
/// is freed in exactly one place, the owner's `deinit`, or never.
struct ForeignHandle: Sendable {
    private let address: UInt

    init(_ pointer: OpaquePointer) {
        address = UInt(bitPattern: pointer)
    }

    /// Never `nil`; optional because that is what C functions take.
    var pointer: OpaquePointer? {
        OpaquePointer(bitPattern: address)
    }

    /// Lends the pointer to `body`, and keeps the owner alive until that is done: the optimiser
    /// knows nothing of the tie between the two, and may let go of an owner that is not used any
    /// more.
    func lend<Result, Failure: Error>(
        of owner: AnyObject, to body: (OpaquePointer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(owner) {} }
        return try body(pointer)
    }
}
