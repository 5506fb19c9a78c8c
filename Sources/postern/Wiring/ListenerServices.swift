internal import AuthAPI
internal import AuthCore
internal import Configuration
internal import HTTPEngine

/// What the listeners of a server serve, each in its place. It is built again when settings change.
struct ListenerServices: Sendable {
    let places: [ListenPlace]
    let test: TestProfile?
    /// What the endpoints of the test profile do on request.
    let tasks: BackgroundTasks

    /// In the order of the listeners.
    func services(of application: Application, _ config: Config) -> [Listener.Service] {
        let test = test.map {
            TestAPI(fixtures: $0.fixtures(of: application, tasks), clock: $0.clock.clocks)
        }
        let router = application.apis.router(with: test)
        // Where the public URL is https and no listener has TLS, a proxy has it. Beside a listener
        // with TLS, one without may have clients of its own; proxies are named.
        let hasTLS = places.contains { $0.service == .http(.public) && $0.usesTLS }
        let isBehindTLS = !hasTLS || !config.server.proxies.addresses.isEmpty
        return places.map { place in
            guard case .http(let served) = place.service else {
                return .netstrings(application.services.socketmap)
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

    /// What a test suite does without credentials; nil but in the test profile.
    func fixtures(of application: Application) -> TestFixtures? {
        test?.fixtures(of: application, tasks)
    }
}
