internal import ArgumentParser
internal import Configuration
internal import Glibc
internal import Platform

/// `postern serve`: runs the server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the server.",
        discussion: """
            Prints "listening on http://HOST:PORT" (https with TLS) to standard output when it is \
            ready. It logs to standard error: text on a terminal, JSON lines otherwise. SIGTERM, \
            SIGINT or closing its terminal stop it gracefully: /readyz answers 503, after \
            server.drain_delay the listener closes, and requests in flight are completed. A \
            second signal ends it at once. With --stop-at-eof the end of standard input is such a \
            signal: give it a pipe, and the server ends with the program that started it, even if \
            that program crashes. SIGHUP (kill -HUP) reads the configuration again and applies \
            the changes that need no restart. If there is a fault, nothing changes.

            Under systemd, it reports when it is ready, and serves on the inherited sockets with \
            the names public, redirect, services and socketmap.

            Examples:
              postern serve
              postern serve --profile test --port 0 --stop-at-eof
              postern serve --config /etc/postern.toml --profile production
            """)

    @OptionGroup var options: ConfigOptions

    @Option(help: ArgumentHelp("The address to listen on (server.host).", valueName: "host"))
    var host: String?

    @Option(
        help: ArgumentHelp(
            "The TCP port to listen on, 0 for a free one (server.port).", valueName: "n"))
    var port: String?

    @Flag(
        name: .customLong("stop-at-eof"),
        help: "Stop when standard input ends, as for SIGTERM.")
    var stopsAtEOF = false

    func run() async throws {
        let signals = StopSignals(reloads: true)
        var flags: [ConfigLoader.Flag] = []
        if let host { flags.append(.init(key: "server.host", name: "--host", value: host)) }
        if let port { flags.append(.init(key: "server.port", name: "--port", value: port)) }
        let environment = Process.environment
        let sockets = InheritedSockets(environment: environment)
        let manager = ServiceManager(environment: environment)
        for name in InheritedSockets.variables + ServiceManager.variables { unsetenv(name) }
        var loader = options.loader(flags)
        loader.inherited = sockets.layer
        let loaded = try ConfigOptions.load(loader)
        let log = Log.toStandardError()
        if stopsAtEOF { StandardInput.terminateAtEnd() }
        let error = await Service(loaded, sockets: sockets, manager: manager, log: log)
            .run(until: signals, reloading: loader)
        await log.writer.drain()
        // Not exit(3): OpenSSL would free its locks while another thread creates a key.
        _exit(error.map { Exit.code(for: $0).rawValue } ?? 0)
    }
}
