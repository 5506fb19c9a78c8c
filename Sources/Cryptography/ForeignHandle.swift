/// The address of an object of a C library, in a form that is `Sendable`.
///
/// `OpaquePointer` is not `Sendable`, because the compiler cannot know the object. A type that
/// stores a handle must guarantee three things: the object does not change after it was stored, the
/// library documents that several threads may read such an object at once, and it is freed in
/// exactly one place, the owner's `deinit`, or never.
package struct ForeignHandle: Sendable {
    private let address: UInt

    package init(_ pointer: OpaquePointer) {
        address = UInt(bitPattern: pointer)
    }

    /// Never `nil`; optional because C functions take optional pointers.
    package var pointer: OpaquePointer? {
        OpaquePointer(bitPattern: address)
    }

    /// Calls `body` with the pointer and keeps `owner` alive until it returns. The optimiser does
    /// not know that the owner frees the pointer, and may release an owner that is not used again.
    func withPointer<Result, Failure: Error>(
        keeping owner: AnyObject, _ body: (OpaquePointer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(owner) {} }
        return try body(pointer)
    }
}
