internal import ArgumentParser
internal import AuthCore
internal import Glibc
internal import HTTPEngine
internal import Logging

/// `postern serve`: the server, from its configuration to its graceful end.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the server.",
        discussion: """
            Prints "listening on http://HOST:PORT" to standard output when it is ready, and logs \
            to standard error: text on a terminal, JSON lines otherwise. SIGTERM, SIGINT or \
            SIGHUP stop it gracefully: /readyz answers 503, after server.drain_delay the \
            listener closes, requests in flight finish. A second signal ends it at once.

            Examples:
              postern serve
              postern serve --profile test --port 0
              postern serve --config /etc/postern.toml --profile production
            """)

    @OptionGroup var options: ConfigOptions

    @Option(help: ArgumentHelp("Address to listen on (server.host).", valueName: "host"))
    var host: String?

    @Option(help: ArgumentHelp("TCP port, 0 for a free one (server.port).", valueName: "n"))
    var port: String?

    func run() async throws {
        var flags: [ConfigLoader.Flag] = []
        if let host { flags.append(.init(key: "server.host", name: "--host", value: host)) }
        if let port { flags.append(.init(key: "server.port", name: "--port", value: port)) }
        let config = try options.load(flags).config
        let log = Log.toStandardError()
        let outcome = await Service(config: config, log: log).run()
        await log.writer.drain()
        // Not exit(3): OpenSSL would free its locks under a thread that still makes a key.
        _exit(outcome?.rawValue ?? 0)
    }
}

/// One run of the server.
struct Service: Sendable {
    let config: Config
    let log: Log

    /// Serves until it is told to stop.
    /// - Returns: why it could not serve, already logged; `nil` after a graceful stop.
    func run() async -> ExitCode? {
        let signals = StopSignals()
        Descriptors.raiseLimit()
        let logger = log.logger
        do {
            try await serve(until: signals, logger)
            return nil
        } catch {
            logger.critical("cannot serve", error: error)
            return Exit.code(for: error)
        }
    }

    private func serve(until signals: StopSignals, _ logger: Logger) async throws {
        var settings = config.server
        let reservation = reservePort()
        if let reservation { settings.port = reservation.port }
        guard let publicURL = config.publicURL(port: settings.port)?.text else {
            throw ServiceFault.noPort(host: settings.host)
        }
        let draining = Latch()
        let house = try await House.open(
            config, publicURL: publicURL, secret: try MasterSecret.find(for: config),
            observers: StoreObservers(
                event: { [log] in log.event($0) },
                diskFull: { isFull in
                    if isFull {
                        logger.critical(
                            "the disk is full: nothing is written until there is room again")
                    } else {
                        logger.notice("the database has room again")
                    }
                }),
            isDraining: { draining.isClosed },
            logFetch: { cause, origin in
                logger.info(
                    "a hash URL could not be fetched",
                    metadata: ["origin": "\(origin)", "cause": "\(cause)"])
            })
        let server = Server(
            configuration: ServerConfiguration(settings),
            listeners: [Listener(settings, router: house.router)], hooks: hooks(logger))
        let addresses = try withExtendedLifetime(reservation) { try server.start() }
        for address in addresses { Output.print("listening on http://\(address)") }
        logger.info(
            "started", metadata: ["profile": "\(config.profile)", "public_url": "\(publicURL)"])
        let duties = Task {
            // Later than the first requests and the making of keys, which need what starting did.
            try? await Task.sleep(for: .seconds(1))
            Footprint.trim()
            await Duties(
                ledger: house.stores.challenges, signingKeys: house.stores.signingKeys,
                keys: house.keys, audit: house.stores.audit,
                retention: config.audit.retention, logger: logger, clock: SystemClock.now
            ).run()
        }
        let signal = await signals.wait()
        logger.info("stopping", metadata: ["signal": "\(StopSignals.name(of: signal))"])
        duties.cancel()
        await stop(server, draining)
        await duties.value
        await house.close()
        logger.info("stopped")
    }

    /// The graceful stop: tell balancers, close the door, let those inside finish.
    private func stop(_ server: Server, _ draining: Latch) async {
        // First: who reads that the server is not ready must not be kept alive by it.
        await server.beginDraining()
        draining.close()
        // A cancelled sleep only makes the stop quicker.
        try? await Task.sleep(for: config.server.drainDelay)
        server.stopAccepting()
        await server.drain()
    }

    private func hooks(_ logger: Logger) -> ServerHooks {
        ServerHooks(
            access: { [log] in log.access($0) },
            error: { record in
                let id = record.requestID.map { ["id": Logger.MetadataValue.string($0)] }
                logger.error(
                    id == nil ? "connection failed" : "request failed", error: record.error,
                    metadata: id)
            })
    }

    private func reservePort() -> PortReservation? {
        guard config.server.port == 0, config.server.publicURL == nil else { return nil }
        return PortReservation(host: config.server.host)
    }
}

/// Why the server cannot begin.
enum ServiceFault: Error, CustomStringConvertible {
    /// Nor a URL to be reached by, which is made of the port.
    case noPort(host: String)

    var description: String {
        switch self {
        case .noPort(let host):
            "server.host \(host) is no address of this machine, or has no port free"
        }
    }
}
