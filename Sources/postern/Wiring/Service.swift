internal import AuthAPI
internal import AuthCore
internal import AuthStorage
internal import HTTPEngine
internal import Logging

/// One run of the server, from its configuration to its graceful stop.
struct Service: Sendable {
    let config: Config
    /// Logged before the start.
    let warnings: [String]
    let log: Log

    init(_ loaded: LoadedConfig, log: Log) {
        config = loaded.config
        warnings = loaded.startWarnings
        self.log = log
    }

    /// Serves until a signal stops it.
    /// - Returns: why it could not serve, after it has been logged; `nil` after a graceful stop.
    func run() async -> (any Error)? {
        let signals = StopSignals()
        Process.raiseDescriptorLimit()
        let logger = log.logger
        for warning in warnings { logger.warning("\(warning)") }
        do {
            try await serve(until: signals, logger)
            return nil
        } catch {
            logger.critical("cannot serve", error: error)
            return error
        }
    }

    private func serve(until signals: StopSignals, _ logger: Logger) async throws {
        var port = config.server.port
        let reservation = reservePort()
        if let reservation { port = reservation.port }
        guard let publicURL = config.publicURL(port: port)?.text else {
            throw ServiceError.noPort(host: config.server.host)
        }
        let draining = AtomicFlag()
        let events = SecurityEvents { [log] in log.security($0, count: $1) }
        let application = try await Application.open(
            config, publicURL: publicURL,
            observers: StoreObservers(
                event: { [log] in log.event($0) },
                diskFull: { isFull in
                    if isFull {
                        logger.critical(
                            "the disk is full: nothing is written until space is free again")
                    } else {
                        logger.notice("the disk is no longer full")
                    }
                },
                unreachable: { cause in
                    if let cause {
                        logger.critical(
                            "the database cannot be reached", metadata: ["cause": "\(cause)"])
                    } else {
                        logger.notice("the database can be reached again")
                    }
                }),
            events: events, isDraining: { draining.isSet },
            report: { Self.report($0, logger, events) })
        let listeners = try listeners(of: application, port: port)
        let server = Server(
            configuration: engine(publicURL: publicURL), listeners: listeners.map(\.listener),
            hooks: hooks(logger))
        let addresses = try withExtendedLifetime(reservation) { try server.start() }
        Output.print("listening on http://\(addresses[0])")
        var started: Logger.Metadata = [
            "profile": "\(config.profile)", "public_url": "\(publicURL)",
        ]
        for (listener, address) in zip(listeners, addresses).dropFirst() {
            started[listener.name] = "\(address)"
        }
        logger.info("started", metadata: started)
        let background = Task {
            await BackgroundTasks(
                ledger: application.stores.challenges,
                signingKeys: application.stores.signingKeys,
                isShared: !config.database.isInMemory, keys: application.keys,
                domains: application.domains,
                audit: application.stores.audit, retention: config.audit.retention,
                exclusively: application.stores.exclusively,
                events: events, logger: logger, clock: SystemClock.now
            ).run()
        }
        let signal = await signals.wait()
        logger.info("stopping", metadata: ["signal": "\(StopSignals.name(of: signal))"])
        background.cancel()
        await stop(server, draining)
        await background.value
        events.flush()
        await application.close()
        logger.info("stopped")
    }

    /// The public listener and, where there are such, those for mail stores, mail servers and
    /// proxies, each with its name in the log.
    private func listeners(
        of application: Application, port: UInt16
    ) throws -> [(name: String, listener: Listener)] {
        var listeners = [
            (
                name: "public",
                listener: Listener(
                    address: .tcp(host: config.server.host, port: port),
                    router: application.router, proxies: config.server.proxies)
            )
        ]
        let (services, api) = (config.services, application.services)
        if let address = services.listen {
            listeners.append(
                ("services", try ServicesListener.make(at: address, config, router: api.router)))
        }
        if let address = services.socketmap {
            listeners.append(
                (
                    "socketmap",
                    try ServicesListener.makeSocketmap(at: address, services, api.socketmap)
                ))
        }
        return listeners
    }

    /// Logs that another server did not answer as it should.
    private static func report(
        _ failure: RemoteFailure, _ logger: Logger, _ events: SecurityEvents
    ) {
        switch failure {
        case .fetch(let origin, let cause):
            logger.info(
                "a hash URL could not be fetched",
                metadata: ["origin": "\(origin)", "cause": "\(cause)"])
        case .forbiddenAddress(let origin, let cause):
            logger.info(
                "a hash URL leads to an address that is not allowed",
                metadata: ["origin": "\(origin)", "cause": "\(cause)"])
            guard let caller = Caller.current else { return }
            events.record(SecurityEvent(.addressRefused, subject: origin, by: caller))
        case .servedHash(let cause):
            logger.error("a served hash could not be computed", metadata: ["cause": "\(cause)"])
        case .mailStore(let origin, let cause):
            logger.error(
                "the mail store gave no session object",
                metadata: ["origin": "\(origin)", "cause": "\(cause)"])
        case .lookUp(let name, let cause):
            logger.info(
                "a domain could not be looked up",
                metadata: ["domain": "\(name)", "cause": "\(cause)"])
        }
    }

    /// The graceful stop: report "not ready" to load balancers, close the listener, wait for the
    /// requests in flight.
    private func stop(_ server: Server, _ draining: AtomicFlag) async {
        // Before `/readyz` answers 503: the client that reads it must not keep its connection.
        await server.beginDraining()
        draining.set()
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

    /// The settings of the HTTP engine. A quarter of the connections for one site: an IPv6 /48 has
    /// 65,536 clients, of which ten could otherwise have all connections.
    private func engine(publicURL: String) -> ServerConfiguration {
        var engine = config.server.engine
        engine.headers = SecurityFields.all(publicURL: publicURL)
        engine.maxConnectionsPerSite =
            config.limits.enabled ? max(1, engine.maxConnections / 4) : .max
        return engine
    }

    private func reservePort() -> PortReservation? {
        guard config.server.port == 0, config.server.publicURL == nil else { return nil }
        return PortReservation(host: config.server.host)
    }
}

extension LoadedConfig {
    /// What an operator should know before a start: `serve` logs it, `check-config` prints it.
    var startWarnings: [String] {
        warnings.map(\.shown) + [MasterSecret.exposure(for: config)].compactMap { $0 }
    }
}

/// Why the server cannot start.
enum ServiceError: Error, CustomStringConvertible {
    /// Without a port there is no default public URL.
    case noPort(host: String)

    var description: String {
        switch self {
        case .noPort(let host):
            "server.host \(host) is not an address of this machine, or it has no free port"
        }
    }
}
