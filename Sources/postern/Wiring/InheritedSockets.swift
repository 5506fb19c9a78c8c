internal import Configuration
internal import Glibc
internal import HTTPEngine

/// The listening sockets that a service manager has opened for this process (sd_listen_fds(3)).
///
/// Each replaces the setting of its name: `public` (`server.host` and `server.port`), `services`
/// (`services.listen`) or `socketmap` (`services.socketmap`). The rules of these settings apply to
/// it. With `[[server.listeners]]` it replaces the address of the listener that serves `public`,
/// `redirect` or `services`. A socket that cannot be used is a fault of the configuration.
struct InheritedSockets: Sendable {
    /// They are for this process alone: a child process must not use them.
    static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
    /// SD_LISTEN_FDS_START.
    static let firstDescriptor: Int32 = 3
    /// Far more than there are listeners.
    private static let maxCount = 64

    private var sockets: [(service: ListenPlace.Service, socket: BoundSocket)] = []
    /// The settings that the sockets replace.
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

    /// The listeners. If there are sockets of their names, they use these.
    ///
    /// One listener serves on all sockets of its name. Several take one each, in their order.
    /// - Throws: ``InheritedSocketCountError``.
    func replacingAddresses(
        of places: [ListenPlace]
    ) throws(InheritedSocketCountError) -> [ListenPlace] {
        let groups = Dictionary(grouping: sockets, by: \.service).mapValues { $0.map(\.socket) }
        for (service, sockets) in groups {
            let listeners = places.count { $0.service == service }
            guard listeners == 1 || listeners == sockets.count else {
                throw InheritedSocketCountError(
                    name: service.name, sockets: sockets.count, listeners: listeners)
            }
        }
        var used: [ListenPlace.Service: Int] = [:]
        return places.flatMap { place in
            guard let sockets = groups[place.service] else { return [place] }
            guard places.count(where: { $0.service == place.service }) > 1 else {
                return sockets.map(place.on)
            }
            let index = used[place.service, default: 0]
            used[place.service] = index + 1
            return [place.on(sockets[index])]
        }
    }

    private mutating func take(_ text: String, names: String?, first: Int32) {
        guard let count = Syntax<Int32>.integer(0...Self.maxCount).parse(.untyped(text)) else {
            return addFault("LISTEN_FDS", "is not a number from 0 to \(Self.maxCount)")
        }
        // systemd-socket-activate gives no names unless it is told to.
        let names =
            names?.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            ?? Array(repeating: ListenPlace.Service.http(.public).name, count: Int(count))
        guard names.count == count else {
            return addFault("LISTEN_FDNAMES", "has \(names.count) names for \(count) sockets")
        }
        for (name, descriptor) in zip(names, first...) { add(name, descriptor) }
    }

    private mutating func add(_ text: String, _ descriptor: Int32) {
        guard let service = ListenPlace.Service(name: text) else {
            return addFault(
                "LISTEN_FDNAMES", "\(RawValue.untyped(text).shown) is no listener",
                "set FileDescriptorName= of the socket unit to public, redirect, services or"
                    + " socketmap")
        }
        let socket: BoundSocket
        do throws(InheritedSocketError) {
            socket = try BoundSocket(inherited: descriptor)
        } catch {
            return addFault("LISTEN_FDS", "\(text) (\(descriptor)) \(error)")
        }
        let isFirst = !sockets.contains { $0.service == service }
        sockets.append((service, socket))
        switch (service, socket.address) {
        case (.http(.public), .unix):
            addFault(
                "LISTEN_FDS", "\(text) (\(descriptor)) is a unix socket",
                "give an address and a port in ListenStream=")
        // Several may serve the same, for example one for each address family. The first one counts
        // as the setting.
        case _ where !isFirst, (.http(.redirect), _): break
        case (.http(.public), .tcp(let host, let port)):
            set("server.host", host, text)
            set("server.port", "\(port)", text)
        case (.http(.services), let address): set("services.listen", "\(address)", text)
        // No socket has this name.
        case (.smtp, _): break
        case (.socketmap, let address): set("services.socketmap", "\(address)", text)
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

/// The number of sockets of a name fits neither one socket for each listener nor a single listener.
struct InheritedSocketCountError: Error, CustomStringConvertible {
    let name: String
    let sockets: Int
    let listeners: Int

    var description: String {
        "LISTEN_FDNAMES names \(sockets) sockets \(name), and the configuration has"
            + " \(listeners) such listeners: give one socket for each"
    }
}
