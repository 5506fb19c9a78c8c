internal import JMAP
internal import Networking
public import Scheduling

/// What bounds the work for mail, and the waits for new mail.
///
/// The caller must keep it when settings change, because a new one counts from zero.
public struct MailWork: Sendable {
    /// The connections on which one client may wait for new mail.
    static let waitsPerClient = 16

    /// Reads messages, and makes the JMAP calls that may take long.
    let pool: WorkerPool
    /// The waits of every client, whichever API they are of.
    let waits = KeyedLimiter<IPBlock>(width: waitsPerClient)
    /// JMAP requests by account.
    let requests = KeyedLimiter<String>(width: JMAPLimits.maxConcurrentRequests)
    /// JMAP uploads by account.
    let uploads = KeyedLimiter<String>(width: JMAPLimits.maxConcurrentUpload)

    public init(pool: WorkerPool) {
        self.pool = pool
    }
}
