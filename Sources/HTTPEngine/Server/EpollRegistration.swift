internal import CSocket

/// The events of a connection that epoll reports to its loop.
struct EpollRegistration {
    /// nil before the first registration.
    private var events: UInt32?

    /// Tells the kernel which events to report, when that has changed.
    /// - Returns: false if the kernel refuses it.
    mutating func update(_ descriptor: Int32, _ events: UInt32, on loop: isolated Loop) -> Bool {
        guard events != self.events else { return true }
        let operation = self.events == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        guard csocket_watch(loop.epoll, operation, descriptor, events) == 0 else { return false }
        self.events = events
        return true
    }
}
