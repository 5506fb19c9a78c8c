internal import Glibc
internal import HTTPEngine

/// The listening sockets that a service manager has opened for this process (sd_listen_fds(3)).
///
/// Each takes the place of the setting that it has the name of: `public` (`server.host` and
/// `server.port`), `services` (`services.listen`) or `socketmap` (`services.socketmap`). The rules
/// of these settings apply to it. What cannot be used is a fault of the configuration.
struct InheritedSockets: Sendable {
    /// They are for one process alone: a child must not take them for its own.
    static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
    /// SD_LISTEN_FDS_START.
    static let firstDescriptor: Int32 = 3
    /// Far more than there are listeners.
    private static let maxCount = 64

    private var sockets: [(name: ListenPlace.Name, socket: BoundSocket)] = []
    /// The settings that the sockets take the place of.
    private(set) var layer = ConfigLayer()

    /// None.
    init() {}

    /// Takes over the descriptors, if they are for this process.
    /// - Parameters:
    ///   - process: the id of this process.
    ///   - first: the first descriptor; tests have others.
    init(
        environment: [String: String], process: pid_t = getpid(),
        first: Int32 = firstDescriptor
    ) {
        guard environment["LISTEN_PID"] == "\(process)", let text = environment["LISTEN_FDS"]
        else { return }
        take(text, names: environment["LISTEN_FDNAMES"], first: first)
    }

    func sockets(for name: ListenPlace.Name) -> [BoundSocket] {
        sockets.filter { $0.name == name }.map(\.socket)
    }

    private mutating func take(_ text: String, names: String?, first: Int32) {
        guard let count = Syntax<Int32>.integer(0...Self.maxCount).parse(.untyped(text)) else {
            return addFault("LISTEN_FDS", "is not a number from 0 to \(Self.maxCount)")
        }
        // systemd-socket-activate gives no names unless it is told to.
        let names =
            names?.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            ?? Array(repeating: ListenPlace.Name.public.rawValue, count: Int(count))
        guard names.count == count else {
            return addFault("LISTEN_FDNAMES", "has \(names.count) names for \(count) sockets")
        }
        for (name, descriptor) in zip(names, first...) { add(name, descriptor) }
    }

    private mutating func add(_ text: String, _ descriptor: Int32) {
        guard let name = ListenPlace.Name(rawValue: text) else {
            return addFault(
                "LISTEN_FDNAMES", "\(RawValue.untyped(text).shown) is no listener",
                "set FileDescriptorName= of the socket unit to public, services or socketmap")
        }
        let socket: BoundSocket
        do throws(InheritedSocketError) {
            socket = try BoundSocket(inherited: descriptor)
        } catch {
            return addFault("LISTEN_FDS", "\(text) (\(descriptor)) \(error)")
        }
        let isFirst = sockets(for: name).isEmpty
        sockets.append((name, socket))
        switch (name, socket.address) {
        case (.public, .tcp(let host, let port)):
            // Several may serve the same: one for each family, say.
            guard isFirst else { return }
            set("server.host", host, text)
            set("server.port", "\(port)", text)
        case (.public, .unix):
            addFault(
                "LISTEN_FDS", "\(text) (\(descriptor)) is a unix socket",
                "give an address and a port in ListenStream=")
        case (.services, let address), (.socketmap, let address):
            guard isFirst else {
                return addFault(
                    "LISTEN_FDNAMES", "names \(text) twice", "give one ListenStream= for it")
            }
            set("services.\(name == .services ? "listen" : "socketmap")", "\(address)", text)
        }
    }

    private mutating func set(_ key: String, _ value: String, _ name: String) {
        layer.entries[key] = ConfigLayer.Entry(
            raw: .untyped(value), source: .inheritedSocket(name: name))
    }

    private mutating func addFault(
        _ variable: String, _ problem: String,
        _ remedy: String = "give listening stream sockets (ListenStream= of the socket unit)"
    ) {
        layer.addFault(variable, at: .variable(variable), problem, remedy)
    }
}
