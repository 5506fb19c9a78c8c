internal import ArgumentParser
internal import Fetching
internal import HTTPEngine

/// `postern healthcheck`: whether the server of this configuration lives, for container runtimes.
struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask the running server whether it lives; exit 0 if so, 1 if not.",
        discussion: """
            Sends GET /healthz to server.host and server.port, as the configuration has them, \
            with a PROXY protocol header where server.proxy_protocol requires one.

            Example, in a Dockerfile:
              HEALTHCHECK CMD ["postern", "healthcheck"]
            """)

    @OptionGroup var options: ConfigOptions

    @Option(help: ArgumentHelp("TCP port (server.port).", valueName: "n"))
    var port: String?

    func run() async throws {
        let flags = port.map { [ConfigLoader.Flag(key: "server.port", name: "--port", value: $0)] }
        let server = try options.load(flags ?? []).config.server
        let url = "http://\(Self.reachable(server.host)):\(server.port)/healthz"
        var request = OutboundRequest(.get, url, timeout: .seconds(3))
        request.sendsProxyHeader = server.proxyProtocol == .required
        do {
            let answer = try await Fetcher().send(request)
            guard answer.status == 200 else {
                Output.complain("\(url) answered \(answer.status)")
                throw ExitCode.failure
            }
        } catch let fault as FetchFault {
            Output.complain("\(url): \(fault)")
            throw ExitCode.failure
        }
    }

    /// What to connect to for a host that is listened on.
    static func reachable(_ host: String) -> String {
        switch host {
        case "*", "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: host.contains(":") ? "[\(host)]" : host
        }
    }
}
