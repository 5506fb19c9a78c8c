internal import AuthAPI
internal import AuthCore
internal import Configuration
internal import HTTPEngine

/// The handlers of a server's listeners, in the order of the listeners. They are built again when
/// settings change.
struct ListenerServices: Sendable {
    let places: [ListenPlace]
    let test: TestProfile?
    /// The actions of the endpoints of the test profile.
    let tasks: BackgroundTasks

    /// In the order of the listeners.
    func services(of application: Application, _ config: Config) -> [Listener.Service] {
        let test = test.map {
            TestAPI(
                fixtures: $0.fixtures(of: application, tasks), publicURL: application.publicURL,
                clock: $0.clock.clocks, mail: application.mail)
        }
        let router = application.apis.router(with: test)
        // If the public URL is https and no listener has TLS, a proxy terminates TLS. If some
        // listener has TLS, one without TLS may have direct clients, so a proxy is assumed only if
        // trusted proxies are configured.
        let hasTLS = places.contains { $0.service == .http(.public) && $0.usesTLS }
        let isBehindTLS = !hasTLS || !config.server.proxies.addresses.isEmpty
        return places.map { place in
            let served: ListenerSettings.Kind
            switch place.service {
            case .http(let kind): served = kind
            case .socketmap: return .netstrings(application.services.socketmap)
            case .smtp:
                guard let smtp = application.smtp else {
                    preconditionFailure("only local mail has this listener")
                }
                return .session(smtp.sessions)
            }
            var proxies = config.server.proxies
            proxies.proxyProtocol = place.proxyProtocol
            let service =
                switch served {
                case .public:
                    HTTPService(router: router, proxies: proxies, isBehindTLS: isBehindTLS)
                case .redirect: HTTPService(router: application.redirects, proxies: proxies)
                case .services: ServicesListener.service(application.services.router, config)
                }
            return .http(service)
        }
    }

    /// The actions of a test suite without credentials; nil except in the test profile.
    func fixtures(of application: Application) -> TestFixtures? {
        test?.fixtures(of: application, tasks)
    }
}
