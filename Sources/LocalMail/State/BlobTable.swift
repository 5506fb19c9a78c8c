/// What clients uploaded into one account. The oldest go when there is no room, and all after a
/// time.
struct BlobTable {
    private struct Upload {
        let number: UInt64
        let type: String
        let bytes: StoredBytes
        let uploadedAt: MailInstant
    }

    /// In the order of their arrival, which is that of their numbers.
    private var uploads: [Upload] = []
    private(set) var usedBytes = 0

    mutating func insert(
        _ bytes: StoredBytes, type: String, number: UInt64, at now: MailInstant, limits: MailLimits
    ) {
        dropExpired(at: now, limits: limits)
        uploads.append(Upload(number: number, type: type, bytes: bytes, uploadedAt: now))
        usedBytes += bytes.bytes.count
        while usedBytes > limits.uploadedBytes, uploads.count > 1 { dropFirst() }
    }

    func blob(
        _ number: UInt64, at now: MailInstant, limits: MailLimits
    ) -> (type: String, bytes: StoredBytes)? {
        let index = uploads.partitionIndex { $0.number >= number }
        guard index < uploads.count, uploads[index].number == number,
            !isExpired(uploads[index], at: now, limits: limits)
        else { return nil }
        return (uploads[index].type, uploads[index].bytes)
    }

    private mutating func dropExpired(at now: MailInstant, limits: MailLimits) {
        while let first = uploads.first, isExpired(first, at: now, limits: limits) { dropFirst() }
    }

    private mutating func dropFirst() {
        usedBytes -= uploads.removeFirst().bytes.bytes.count
    }

    private func isExpired(_ upload: Upload, at now: MailInstant, limits: MailLimits) -> Bool {
        let age = now.milliseconds.subtractingReportingOverflow(upload.uploadedAt.milliseconds)
        return !age.overflow && .milliseconds(age.partialValue) >= limits.uploadAge
    }
}
