import HTTPEngine
import PosternTesting

/// Serves a greeting with the engine, and runs a Postern.
@main struct Dependent {
    static func main() async throws {
        let greeting = Route(.get, "/") { _ in .text("hello\n") }
        let errors: ErrorRenderer = { error, _ in .text("sorry\n", status: error.status) }
        let router = Router(
            groups: [RouteGroup(prefixes: ["/"], errors: errors, routes: [greeting])],
            fallback: errors)
        let server = Server(
            configuration: ServerConfiguration(),
            listeners: [
                Listener(address: .tcp(host: "127.0.0.1", port: 0), router: router)
            ],
            hooks: ServerHooks())
        print("HTTPEngine listens on \(try server.start()[0].port != 0)")
        server.stopAccepting()
        await server.drain()
        try await PosternServer.run { postern in
            let agent = try await postern.makeAgent("bob@mail.test")
            let capability = try await postern.post("/api/v1/capability", token: agent.token)
            print("PosternTesting answered \(capability.status)")
        }
    }
}
