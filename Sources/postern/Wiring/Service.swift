internal import AuthAPI
internal import AuthCore
internal import AuthStorage
internal import Configuration
internal import Cryptography
internal import Glibc
internal import HTTPEngine
internal import Logging
internal import Platform
internal import Provisioning
internal import Scheduling

/// One run of the server, from its configuration to its graceful stop.
struct Service: Sendable {
    let config: Config
    private let loaded: LoadedConfig
    let sockets: InheritedSockets
    let manager: ServiceManager
    let log: Log

    init(
        _ loaded: LoadedConfig, sockets: InheritedSockets = InheritedSockets(),
        manager: ServiceManager = ServiceManager(), log: Log
    ) {
        config = loaded.config
        self.loaded = loaded
        self.sockets = sockets
        self.manager = manager
        self.log = log
    }

    /// Serves until a signal stops it.
    /// - Parameter loader: reads the configuration again from its sources.
    /// - Returns: why it could not serve, which has been logged; `nil` after a graceful stop.
    func run(
        until signals: StopSignals, reloading loader: ConfigLoader
    ) async -> (any Error)? {
        Process.raiseDescriptorLimit()
        let logger = log.logger
        for warning in loaded.startWarnings { logger.warning("\(warning)") }
        do {
            let running = try await start()
            // In one write, so that a reader of the first line has the second one, too.
            let smtp = running.smtpAddress.map { "\nsmtp on \($0)" } ?? ""
            Output.print("listening on \(running.address)\(smtp)")
            logger.info("started", metadata: running.metadata)
            manager.ready("Serving \(running.publicURL)")
            let watchdog = Task {
                await Watchdog(
                    manager: manager, server: running.server,
                    pingDatabase: running.application.stores.ping
                ).run()
            }
            let reloading = Task { await reload(running, from: loader, at: signals.reloads) }
            let signal = await signals.wait()
            logger.info("stopping", metadata: ["signal": "\(StopSignals.name(of: signal))"])
            manager.stopping("Completing the requests in flight")
            if let rest = await running.stop(reloading) {
                logger.warning("server.drain_timeout passed", metadata: ["waiting_for": "\(rest)"])
            }
            watchdog.cancel()
            logger.info("stopped")
            return nil
        } catch {
            logger.critical("cannot serve", error: error)
            return error
        }
    }

    /// Serves until it is stopped.
    func start() async throws -> RunningService {
        let logger = log.logger
        log.sampleAccess(config.log.access)
        // Sockets are bound before anything is created, so that nothing is left behind if an
        // address is in use.
        var places = try boundPlaces(logger)
        let port = try places[0].bind().address.port
        guard let publicURL = config.publicURL(port: port)?.text else {
            preconditionFailure("a port that was bound makes a URL")
        }
        let certificates = try Certificates(config)
        // They are compared with the libraries while the database is opened.
        let comparison = Task.detached { [config] in
            (config.pow.kernelChoice, config.passwords.kernelChoice)
        }
        let draining = AtomicFlag()
        let counts = EventCounts()
        let health = StoreHealth()
        let events = SecurityEvents { [log] in
            log.security($0, count: $1)
            counts.security.add($0.kind, $1)
        }
        let receiver = try EventReceiver(config)
        let test = TestProfile(config)
        let clock = test?.clock.clocks ?? SystemClock.clocks
        let application = try await Application.open(
            config, publicURL: publicURL, clock: clock,
            observers: observers(logger, counts, health),
            events: events, isDraining: { draining.isSet },
            report: { Self.report($0, logger, events) })
        // Before a message can arrive.
        application.localMail?.reportMissingLibrary(to: logger)
        let (scrypt, argon2) = await comparison.value
        report(scrypt, argon2, to: logger)
        let current = CurrentApplication(application)
        let tasks = tasks(
            of: application, current, delivering: receiver, certificates, events, logger, clock)
        let listeners = ListenerServices(places: places, test: test, tasks: tasks)
        let initial = listeners.services(of: application, config)
        let server: Server
        let addresses: [ListenAddress]
        do {
            server = Server(
                configuration: engine(publicURL: publicURL),
                listeners: try places.indices.map { index in
                    Listener(
                        socket: try places[index].bind(), service: initial[index],
                        tls: places[index].tls(of: certificates))
                }, hooks: hooks(logger), on: application.eventLoops)
            addMetrics(of: current, server, certificates, counts, health)
            addresses = try server.start()
        } catch {
            await application.close()
            throw error
        }
        return RunningService(
            address: "\(places[0].usesTLS ? "https" : "http")://\(addresses[0])",
            publicURL: publicURL,
            smtpAddress: zip(places, addresses).first { $0.0.service == .smtp }
                .map { "\($0.1)" },
            metadata: metadata(publicURL, places, addresses),
            current: current, listeners: listeners, certificates: certificates, server: server,
            background: Task { await tasks.run() }, draining: draining, events: events,
            drainDelay: config.server.drainDelay)
    }

    private func tasks(
        of application: Application, _ current: CurrentApplication,
        delivering receiver: EventReceiver?, _ certificates: Certificates?,
        _ events: SecurityEvents, _ logger: Logger, _ clock: ServerClock
    ) -> BackgroundTasks {
        let stores = application.stores
        return BackgroundTasks(
            ledger: stores.challenges, sessions: stores.userSessions, links: stores.emailLinks,
            signingKeys: signingKeyTasks(of: application, events, logger, clock),
            isShared: !config.database.isInMemory,
            domains: { current.value.useCases.domains },
            audit: stores.audit, feed: stores.accountFeed, retention: config.audit.retention,
            delivery: receiver.map { delivery(to: $0, of: application, logger, clock) },
            webhooks: application.webhooks.delivery(
                of: stores.webhookQueue, application.keys, logger, clock),
            certificates: certificates, exclusively: stores.exclusively,
            events: events, logger: logger, clock: clock.now)
    }

    /// Logs what is not computed as configured.
    private func report(
        _ scrypt: Scrypt.Kernel.Choice, _ argon2: Argon2.Kernel.Choice, to logger: Logger
    ) {
        for warning in scrypt.warnings { logger.warning("\(warning)") }
        if let problem = argon2.problem {
            logger.log(level: problem.level, "\(problem.message)")
        }
    }

    /// The listeners, with their sockets but for those in a directory that does not exist yet.
    private func boundPlaces(_ logger: Logger) throws -> [ListenPlace] {
        var places = try ListenPlace.all(config, sockets)
        leaveOutSMTP(of: &places, logger)
        let directory = config.storage.directory
        for index in places.indices where !places[index].isInNewDirectory(directory) {
            _ = try places[index].bind()
        }
        return places
    }

    /// Leaves out the listener for local mail if its address is in use and was not configured. A
    /// second server of a developer starts without it.
    private func leaveOutSMTP(of places: inout [ListenPlace], _ logger: Logger) {
        guard !loaded.isSet("mail.local_smtp"),
            let index = places.firstIndex(where: { $0.service == .smtp })
        else { return }
        do {
            _ = try places[index].bind()
        } catch {
            logger.warning(
                "no SMTP for local mail: set mail.local_smtp to a free address",
                metadata: ["cause": "\(error)"])
            places.remove(at: index)
        }
    }

    /// The fields of the log line about a start.
    private func metadata(
        _ publicURL: String, _ places: [ListenPlace], _ addresses: [ListenAddress]
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "profile": "\(config.profile)", "public_url": "\(publicURL)",
            "scrypt": "\(config.pow.kernelChoice.kernel)",
            "argon2": "\(config.passwords.kernelChoice.kernel)",
        ]
        if config.mail.store == .local { metadata["mail"] = "in memory, until the server stops" }
        // The second public listener is `public_2`.
        for (index, address) in addresses.enumerated().dropFirst() {
            let service = places[index].service
            let number = places[...index].count { $0.service == service }
            metadata[number == 1 ? service.name : "\(service.name)_\(number)"] = "\(address)"
        }
        return metadata
    }

    /// Reads the configuration again whenever that is asked for, until the task is cancelled.
    private func reload(
        _ running: RunningService, from loader: ConfigLoader, at requests: AsyncStream<Void>
    ) async {
        var reloader = Reloader(loader, present: loaded, logger: log.logger) { config in
            try await running.apply(config)
            log.sampleAccess(config.log.access)
        }
        for await _ in requests {
            manager.reloading()
            let isUsed = await reloader.reload()
            manager.ready(
                "Serving \(running.publicURL)" + (isUsed ? "" : "; the configuration has faults"))
        }
    }

    private func observers(
        _ logger: Logger, _ counts: EventCounts, _ health: StoreHealth
    ) -> StoreObservers {
        StoreObservers(
            event: { [log] in
                log.event($0)
                counts.credential.add($0.kind)
            },
            diskFull: { isFull in
                health.note(isDiskFull: isFull)
                if isFull {
                    logger.critical(
                        "the disk is full: nothing is written until space is free again")
                } else {
                    logger.notice("the disk is no longer full")
                }
            },
            diskFailing: { cause in
                health.note(isDiskFailing: cause != nil)
                if let cause {
                    logger.critical("the disk fails", metadata: ["cause": "\(cause)"])
                } else {
                    logger.notice("the disk works again")
                }
            },
            unreachable: { cause in
                health.note(isReachable: cause == nil)
                if let cause {
                    logger.critical(
                        "the database cannot be reached", metadata: ["cause": "\(cause)"])
                } else {
                    logger.notice("the database can be reached again")
                }
            })
    }

    /// Adds the metrics that are not counted by the application, or that a reload changes.
    private func addMetrics(
        of current: CurrentApplication, _ server: Server, _ certificates: Certificates?,
        _ counts: EventCounts, _ health: StoreHealth
    ) {
        let metrics = current.value.metrics
        metrics.addDifficulty { current.value.useCases.agents.lowestDifficulty(at: .now) }
        metrics.add(server)
        metrics.addCertificates { certificates?.expiries ?? [] }
        metrics.add(counts)
        metrics.add(health)
        metrics.addProcess(
            storage: config.database.isRemote ? "postgresql" : "sqlite",
            scrypt: config.pow.kernelChoice.kernel.implementation.rawValue,
            argon2: config.passwords.kernelChoice.kernel.implementation.rawValue)
    }

    private func signingKeyTasks(
        of application: Application, _ events: SecurityEvents, _ logger: Logger,
        _ clock: ServerClock
    ) -> SigningKeyTasks {
        SigningKeyTasks(
            store: application.stores.signingKeys, keys: application.keys,
            rotateEvery: config.keys.rotateEvery,
            grace: { [config] in config.longestLifetime(of: $0) },
            exporter: config.keys.exportDirectory.map { path in
                KeyExporter(
                    KeyExport(of: .capability, as: config.keys.exportLayout, config), to: path,
                    keys: application.keys)
            }, events: events, logger: logger, clock: clock.now)
    }

    private func delivery(
        to receiver: EventReceiver, of application: Application, _ logger: Logger,
        _ clock: ServerClock
    ) -> EventDelivery {
        EventDelivery(
            application.stores.deliveries, settings: .init(config.provisioning),
            send: receiver.send, report: { $0.log(to: logger) }, clock: clock.now)
    }

    /// Logs a wrong or missing answer of another server.
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
        case .mailRequest(let origin, let cause):
            logger.error(
                "the mail store did not answer as it must",
                metadata: ["origin": "\(origin)", "cause": "\(cause)"])
        case .lookUp(let name, let cause):
            logger.info(
                "a domain could not be looked up",
                metadata: ["domain": "\(name)", "cause": "\(cause)"])
        case .provider(let name, let cause):
            logger.warning(
                "an identity provider did not say who somebody is",
                metadata: ["provider": "\(name)", "cause": "\(cause)"])
        case .mailer(let report, let relay): report.log(to: logger, relay: relay)
        case .qrCode(let cause):
            logger.error("there is no QR code", metadata: ["cause": "\(cause)"])
        }
    }

    private func hooks(_ logger: Logger) -> ServerHooks {
        ServerHooks(
            access: { [log] in log.access($0) },
            error: { record in
                var metadata: Logger.Metadata = [:]
                if let id = record.requestID { metadata["id"] = "\(id)" }
                if let trace = record.trace {
                    metadata["trace_id"] = "\(trace.traceID)"
                    metadata["span_id"] = "\(trace.spanID)"
                }
                logger.error(
                    record.id == nil ? "connection failed" : "request failed",
                    error: record.error, metadata: metadata)
            })
    }

    /// The settings of the HTTP engine. One site may use a quarter of the connections, and half of
    /// the memory for requests and responses. An IPv6 /48 has 65,536 clients, and without this
    /// limit ten of them could use all connections, and one of them all of this memory.
    private func engine(publicURL: String) -> ServerConfiguration {
        var engine = config.server.engine
        engine.headers = SecurityFields.all
        engine.secureHeaders = SecurityFields.overTLS(publicURL: publicURL)
        engine.maxConnectionsPerSite =
            config.limits.enabled ? max(1, engine.maxConnections / 4) : .max
        engine.bufferBytesPerSite = config.limits.enabled ? max(1, engine.bufferBytes / 2) : .max
        return engine
    }
}

extension Argon2.Kernel.Choice {
    /// What is logged if Argon2 is not computed as configured, or not as fast as possible. A result
    /// that differs is critical: something is wrong with the processor or the program.
    var problem: (level: Logger.Level, message: String)? {
        if let faulty {
            let name = faulty.rawValue
            let message =
                "Argon2 with \(name) is not used: its results differ from those of libargon2"
            return (.critical, message)
        }
        guard isReplaced else { return nil }
        let message =
            "this processor does not have the instructions of passwords.argon2; using \(kernel)"
        return (.warning, message)
    }
}

extension Scrypt.Kernel.Choice {
    /// Warnings if scrypt is not computed as configured, or not as fast as possible.
    var warnings: [String] {
        let faults = faulty.map {
            "scrypt with \($0.rawValue) is not used: its results differ from those of libscrypt"
        }
        guard isReplaced, faults.isEmpty else { return faults }
        return ["this processor does not have the instructions of pow.scrypt; using \(kernel)"]
    }
}
