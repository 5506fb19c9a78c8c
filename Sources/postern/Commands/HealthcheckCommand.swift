internal import ArgumentParser
internal import Configuration
internal import Fetching
internal import HTTPEngine
internal import Platform

/// `postern healthcheck`: checks for a container runtime that the server runs.
struct HealthcheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck",
        abstract: "Check that the server runs; exit with 0 if it does, with 1 if not.",
        discussion: """
            Sends GET /healthz to the first public listener of the configuration, with TLS and a \
            PROXY protocol header if the listener has them. The certificate is not checked: it is \
            for the name that clients use.

            Example, in a Dockerfile:
              HEALTHCHECK CMD ["postern", "healthcheck"]
            """)

    @OptionGroup var options: ConfigOptions

    @Option(help: ArgumentHelp("The TCP port (server.port).", valueName: "n"))
    var port: String?

    func run() async throws {
        let flags = port.map { [ConfigLoader.Flag(key: "server.port", name: "--port", value: $0)] }
        let listener = try options.load(flags ?? []).config.publicListener
        let scheme = listener.usesTLS ? "https" : "http"
        var request = OutboundRequest(.get, "", timeout: .seconds(3))
        switch listener.address {
        case .tcp(let host, let port):
            request.url = "\(scheme)://\(Self.reachable(host)):\(port)/healthz"
        case .unix(let path):
            request.url = "\(scheme)://localhost/healthz"
            request.socketPath = path
        }
        let url = request.url
        request.sendsProxyHeader = listener.proxyProtocol == .required
        request.verifiesServer = false
        do {
            let answer = try await Fetcher().send(request)
            guard answer.status == 200 else {
                Output.message("\(url) answered \(answer.status)")
                throw ExitCode.failure
            }
        } catch let fault as OutboundError {
            Output.message("\(url): \(fault)")
            throw ExitCode.failure
        }
    }

    /// The host to connect to when the server listens on `host`.
    static func reachable(_ host: String) -> String {
        switch host {
        case "*", "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: host.contains(":") ? "[\(host)]" : host
        }
    }
}
