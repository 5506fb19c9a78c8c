internal import AuthCore

extension SealedKey {
    /// The order in which ``SigningKeyStore/keys()`` lists: by use, newest first, the signing one
    /// before a retired one of the same millisecond.
    static func isListedBefore(_ left: SealedKey, _ right: SealedKey) -> Bool {
        if left.use != right.use { return left.use.rawValue < right.use.rawValue }
        if left.created != right.created { return left.created > right.created }
        if (left.retired == nil) != (right.retired == nil) { return left.retired == nil }
        return left.id < right.id
    }
}
