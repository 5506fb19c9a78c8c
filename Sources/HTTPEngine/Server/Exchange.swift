/// One request on a connection, from its head to its access record. Confined to its connection's
/// loop; a class, because it is handed from queue to task to record and a dozen references would
/// be counted at each step.
final class Exchange {
    /// Who answers it.
    enum Answerer {
        case undecided
        case handler(MountedRoute, PathParameters)
        case ready(Response)
    }

    let id: RequestID
    /// When its first byte came.
    let began: MonotonicTime
    /// nil when it could not be read.
    let head: RequestHead?
    /// The route it was found to be for, also when it is refused after that.
    var mounted: MountedRoute?
    /// Who asks, once that was looked up.
    var client: PeerAddress?
    var answerer = Answerer.undecided
    var bodyLimit = 0
    var body: [UInt8] = []
    /// The connection ends with this answer, whatever the client asked for.
    var isLast = false

    init(id: RequestID, began: MonotonicTime, head: RequestHead?) {
        self.id = id
        self.began = began
        self.head = head
    }

    /// What it holds of the client's bytes.
    var bytes: Int { (head?.bytes.count ?? 0) + body.count }

    var context: ErrorContext { ErrorContext(id: id, head: head) }
}

extension RequestHead.Framing {
    /// Known from the head to be more; a chunked body is found out while it is read.
    func exceeds(_ limit: Int) -> Bool {
        if case .length(let length) = self { return length > limit }
        return false
    }
}
