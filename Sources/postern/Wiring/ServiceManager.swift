internal import CProcess
internal import Configuration
internal import Glibc
internal import Scheduling

/// The service manager that started this process (systemd), and what it is told of the state of the
/// process (sd_notify(3)).
///
/// Without `NOTIFY_SOCKET` nobody is told, and the functions do nothing. A message that cannot be
/// sent within a second is lost, and the manager acts as if that state had not been reached.
struct ServiceManager: Sendable {
    /// What it sets for this process alone: a child must not take them for its own.
    static let variables = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

    /// The path of the socket, or its abstract name after `@`; `nil` without a manager.
    private let socket: String?
    /// How long it waits for a sign of life before it ends the process; `nil` if it does not.
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

    /// A reload begins; ``ready(_:)`` ends it, whether or not it changed anything. The time tells
    /// the manager that this is the answer to its signal, and not to an earlier one.
    func reloading() {
        guard !isStopping.isSet else { return }
        send("RELOADING=1\nMONOTONIC_USEC=\(cprocess_microseconds())")
    }

    func stopping(_ status: String) {
        isStopping.set()
        send("STOPPING=1\nSTATUS=\(status)")
    }

    /// The sign of life that ``watchdog`` is about.
    func isAlive() { send("WATCHDOG=1") }

    private func send(_ text: String) {
        guard let socket else { return }
        // There is nobody else to tell, and the service does not depend on it.
        _ = cprocess_send_datagram(socket, text, text.utf8.count)
    }
}
