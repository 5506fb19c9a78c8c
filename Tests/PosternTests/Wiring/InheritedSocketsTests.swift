import Glibc
import HTTPEngine
import Networking
import TestPrimitives
import Testing

@testable import Configuration
@testable import Platform
@testable import postern

@Suite struct InheritedSocketsTests {
    private let scratch = Scratch()
    /// Descriptors from here on are these tests' own: the kernel gives the lowest ones.
    private static let base: Int32 = {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int32(min(limit.rlim_cur, 60_000)) - 100
    }()

    /// What a service manager sets for the process with the number 42.
    private func variables(_ count: String, _ names: String? = nil) -> [String: String] {
        var variables = ["LISTEN_PID": "42", "LISTEN_FDS": count]
        variables["LISTEN_FDNAMES"] = names
        return variables
    }

    /// Sockets that listen on 127.0.0.1, with descriptors in a row that nothing else has.
    private func listening(_ count: Int32, from first: Int32) {
        for descriptor in first..<first + count {
            let own = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #expect(listen(own, 8) == 0)
            #expect(dup2(own, descriptor) == descriptor)
            close(own)
        }
    }

    /// A socket that has a path, also as each of these descriptors. The caller closes it.
    private func listeningByPath(_ descriptors: [Int32]) throws -> BoundSocket {
        let path = "\(scratch.path)/\(descriptors[0])"
        let bound = try BoundSocket(.unix(SocketFile(path: path)))
        // `BoundSocket` does not show its descriptor: the one that has this path.
        let own = try #require((3..<Self.base).first { Self.path(of: $0) == path })
        #expect(listen(own, 8) == 0)
        for descriptor in descriptors { #expect(dup2(own, descriptor) == descriptor) }
        return bound
    }

    private func taken(_ variables: [String: String], first: Int32) -> InheritedSockets {
        InheritedSockets(environment: variables, process: 42, first: first)
    }

    private func load(
        _ sockets: InheritedSockets, file: String = ""
    ) throws(ConfigFaults) -> Config {
        var loader = ConfigLoader(readFile: { _ throws(FileError) in file })
        loader.inherited = sockets.layer
        return try loader.load().config
    }

    @Test func theyTakeThePlaceOfTheAddressesOfTheirNames() throws {
        listening(3, from: Self.base)
        let sockets = taken(variables("3", "public:services:public"), first: Self.base)
        let port = try #require(SocketAddress(boundTo: Self.base)?.port)
        let services = try #require(SocketAddress(boundTo: Self.base + 1)?.port)
        let config = try load(
            sockets,
            file: "server.port = 1\nserver.host = \"::1\"\nservices.secret_file = \"s\"\n"
                + "mail.store = \"none\"")
        #expect(config.server.host == "0.0.0.0" && config.server.port == port)
        #expect(config.services.listen?.text == "0.0.0.0:\(services)")
        let places = try ListenPlace.all(config, sockets)
        #expect(places.map(\.service.name) == ["public", "public", "services"])
        #expect(places.first?.address == .tcp(host: "0.0.0.0", port: port))
    }

    /// Others could ask without a secret.
    @Test func theRulesOfTheSettingsApplyToThem() throws {
        listening(1, from: Self.base + 10)
        let sockets = taken(variables("1", "services"), first: Self.base + 10)
        let error = #expect(throws: ConfigFaults.self) { try load(sockets) }
        let found = error?.faults.map(\.shown) ?? []
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix("the inherited socket services: services.listen: 0.0.0.0:")
                == true)
    }

    @Test func withoutNamesTheyArePublic() throws {
        listening(1, from: Self.base + 20)
        let sockets = taken(variables("1"), first: Self.base + 20)
        #expect(sockets.layer.faults.isEmpty)
        let names = try ListenPlace.all(Config(), sockets).map(\.service.name)
        #expect(names == ["public", "smtp"])
    }

    @Test func thoseOfAnotherProcessAreNotTaken() throws {
        listening(1, from: Self.base + 30)
        defer { close(Self.base + 30) }
        var other = variables("1")
        other["LISTEN_PID"] = "43"
        for environment in [other, ["LISTEN_FDS": "1"], ["LISTEN_PID": "42"], [:]] {
            let sockets = taken(environment, first: Self.base + 30)
            #expect(sockets.layer.faults.isEmpty && sockets.layer.entries.isEmpty)
        }
    }

    @Test(arguments: [
        (["LISTEN_FDS": "x"], "LISTEN_FDS: is not a number from 0 to 64"),
        (["LISTEN_FDS": "-1"], "LISTEN_FDS: is not a number from 0 to 64"),
        (["LISTEN_FDS": "65"], "LISTEN_FDS: is not a number from 0 to 64"),
        (
            ["LISTEN_FDS": "1", "LISTEN_FDNAMES": "a:b"],
            "LISTEN_FDNAMES: has 2 names for 1 sockets"
        ),
        (
            ["LISTEN_FDS": "1", "LISTEN_FDNAMES": "postern.socket"],
            "LISTEN_FDNAMES: \"postern.socket\" is no listener"
        ),
        // Nothing has this descriptor.
        (
            ["LISTEN_FDS": "1", "LISTEN_FDNAMES": "public"],
            "LISTEN_FDS: public (\(base + 40)) is not a stream socket"
        ),
    ])
    func whatCannotBeUsedIsAFault(variables: [String: String], problem: String) {
        let sockets = taken(variables.merging(["LISTEN_PID": "42"]) { $1 }, first: Self.base + 40)
        #expect(sockets.layer.faults.count == 1)
        #expect(sockets.layer.faults.first?.shown.hasPrefix("\(problem); ") == true)
    }

    @Test func thePublicListenerHasAPortAndEachOtherIsOne() throws {
        let bound = try listeningByPath([Self.base + 50, Self.base + 51])
        defer { bound.close() }
        let faults = taken(variables("2", "public:services"), first: Self.base + 50).layer.faults
        #expect(faults.map(\.problem) == ["public (\(Self.base + 50)) is a unix socket"])
    }

    @Test func theyTakeThePlacesOfListenersInTheirOrder() throws {
        listening(4, from: Self.base + 60)
        let ports = try (Self.base + 60..<Self.base + 64).map {
            try #require(SocketAddress(boundTo: $0)?.port)
        }
        let sockets = taken(
            variables("4", "public:redirect:public:services"), first: Self.base + 60)
        let config = try load(
            sockets,
            file: """
                server.public_url = "https://a.test"
                services.secret_file = "s"
                mail.store = "none"
                tls.certificates = [{ certificate = "c", key = "k" }]
                server.listeners = [
                  { address = "127.0.0.1:1", tls = true }, { address = "127.0.0.1:2" },
                  { address = "127.0.0.1:3", serves = "redirect" },
                  { address = "127.0.0.1:4", serves = "services" },
                ]
                """)
        let places = try ListenPlace.all(config, sockets)
        #expect(places.map(\.service.name) == ["public", "public", "redirect", "services"])
        #expect(places.map(\.usesTLS) == [true, false, false, false])
        #expect(
            places.map(\.address)
                == [0, 2, 1, 3].map { .tcp(host: "0.0.0.0", port: ports[$0]) })
    }

    @Test func theSocketmapNeedsNoSettingBesideTablesOfListeners() throws {
        let bound = try listeningByPath([Self.base + 66])
        defer { bound.close() }
        let sockets = taken(variables("1", "socketmap"), first: Self.base + 66)
        let config = try load(
            sockets, file: "server.listeners = [{ address = \"127.0.0.1:1\" }]")
        let places = try ListenPlace.all(config, sockets).filter { $0.service != .smtp }
        #expect(places.map(\.service.name) == ["public", "socketmap"])
    }

    @Test func aListenerWithoutASocketStopsTheStart() throws {
        listening(1, from: Self.base + 70)
        let sockets = taken(variables("1", "redirect"), first: Self.base + 70)
        let error = #expect(throws: InheritedSocketCountError.self) {
            try ListenPlace.all(Config(), sockets)
        }
        #expect(
            error?.description
                == "LISTEN_FDNAMES names 1 sockets redirect, and the configuration has 0 such"
                + " listeners: give one socket for each")
    }

    private static func path(of descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &size)
            }
        }
        guard result == 0, address.sun_family == AF_UNIX else { return nil }
        return withUnsafeBytes(of: address.sun_path) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
