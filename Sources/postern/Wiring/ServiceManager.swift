internal import CProcess
internal import Configuration
internal import Glibc
internal import Scheduling

/// The service manager that started this process (systemd), and the reports to it about the state
/// of the process (sd_notify(3)).
///
/// Without `NOTIFY_SOCKET` the functions do nothing. A message that cannot be sent within a second
/// is lost. The manager then acts as if that state had not been reached.
struct ServiceManager: Sendable {
    /// Variables that are for this process alone: a child process must not use them.
    static let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    /// The path of the socket, or its abstract name after `@`; `nil` without a manager.
    private let socket: String?
    /// How long the manager waits for a watchdog message before it ends the process; `nil` without
    /// a watchdog.
    let watchdog: Duration?
    /// Nothing is reported as ready after this.
    private let isStopping = AtomicFlag()

    /// - Parameter process: the id of this process.
    init(environment: [String: String] = [:], process: pid_t = getpid()) {
        let name = environment["NOTIFY_SOCKET"] ?? ""
        let isAddress = (name.hasPrefix("/") || name.hasPrefix("@")) && name.utf8.count > 1
        socket = isAddress ? name : nil
        let owner = environment["WATCHDOG_PID"]
        if isAddress, owner == nil || owner == "\(process)",
            let text = environment["WATCHDOG_USEC"],
            let microseconds = Syntax<Int64>.integer(1...Int(Int32.max) * 1000)
                .parse(.untyped(text))
        {
            watchdog = .microseconds(microseconds)
        } else {
            watchdog = nil
        }
    }

    /// The start or a reload is done.
    /// - Parameter status: one line for `systemctl status`.
    func ready(_ status: String) {
        guard !isStopping.isSet else { return }
        send("READY=1\nSTATUS=\(status)")
    }

    /// A reload begins; ``ready(_:)`` ends it, whether or not it changed anything. The time shows
    /// the manager that this reload belongs to its latest signal.
    func reloading() {
        guard !isStopping.isSet else { return }
        send("RELOADING=1\nMONOTONIC_USEC=\(cprocess_microseconds())")
    }

    func stopping(_ status: String) {
        isStopping.set()
        send("STOPPING=1\nSTATUS=\(status)")
    }

    /// The message that ``watchdog`` waits for.
    func isAlive() { send("WATCHDOG=1") }

    private func send(_ text: String) {
        guard let socket else { return }
        // The error cannot be reported elsewhere, and the service does not depend on the message.
        _ = cprocess_send_datagram(socket, text, text.utf8.count)
    }
}
