internal import ArgumentParser
internal import Fetching
internal import HTTPEngine

/// `postern healthcheck`: checks for a container runtime that the server runs.
struct HealthcheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck",
        abstract: "Check that the server runs; exit with 0 if it does, with 1 if not.",
        discussion: """
            Sends GET /healthz to server.host and server.port of the configuration, with a PROXY \
            protocol header if server.proxy_protocol requires one.

            Example, in a Dockerfile:
              HEALTHCHECK CMD ["postern", "healthcheck"]
            """)

    @OptionGroup var options: ConfigOptions

    @Option(help: ArgumentHelp("The TCP port (server.port).", valueName: "n"))
    var port: String?

    func run() async throws {
        let flags = port.map { [ConfigLoader.Flag(key: "server.port", name: "--port", value: $0)] }
        let server = try options.load(flags ?? []).config.server
        let url = "http://\(Self.reachable(server.host)):\(server.port)/healthz"
        var request = OutboundRequest(.get, url, timeout: .seconds(3))
        request.sendsProxyHeader = server.proxies.proxyProtocol == .required
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
