import Testing

@testable import HTTPEngine

/// A renderer that does not set the status: the router does.
private func renderer(_ group: String) -> ErrorRenderer {
    { _, context in .text("\(group) \(context.path ?? "-")") }
}

private func says(_ text: String) -> Handler {
    { request in .text("\(text) \(request.route ?? "-")") }
}

private let router = Router(
    groups: [
        RouteGroup(
            prefixes: ["/api"], errors: renderer("api"),
            routes: [
                Route(.get, "/api/things", handler: says("list")),
                Route(.post, "/api/things", bodyLimit: 4, handler: says("make")),
                Route(.get, "/api/things/{name}") { .text($0.parameters["name"] ?? "none") },
                Route(.get, "/api/things/special", handler: says("special")),
                Route(.delete, "/api/things/special/deep/part", handler: says("part")),
                Route(.get, "/api/things/{name}/tail", handler: says("tail")),
                Route(.get, "/api/accounts/{id}") {
                    .text("\($0.parameters["id"] ?? "-") of \($0.path)")
                },
                Route(.get, "/api/fail") { _ in throw SocketError(call: "x", code: 1) },
                Route(.any, "/api/all", handler: says("any")),
                Route(.put, "/api/all", handler: says("put")),
                Route(.get, "/api/answered") { _ in
                    throw AnsweredFault(
                        cause: SocketError(call: "x", code: 1),
                        response: .text("later", status: .serviceUnavailable))
                },
                Route(.get, "/api/split") { _ in .text("x", headers: [("X", "a\r\nb")]) },
            ]),
        RouteGroup(
            prefixes: ["/api/v1"], errors: renderer("v1"),
            routes: [Route(.get, "/api/v1/a", handler: says("a"))]),
        RouteGroup(
            prefixes: [], errors: renderer("root"), routes: [Route(.get, "/", handler: says("/"))]),
    ],
    fallback: renderer("fallback"))

private func ask(_ method: Method, _ target: String, body: [UInt8] = []) async -> Response {
    await router.respond(to: Request(method: method, target: target, body: body))
}

private func text(_ response: Response) -> String { String(decoding: response.body, as: UTF8.self) }

@Suite struct RouterTests {
    @Test(arguments: ["GET", "HEAD", "POST", "OPTIONS", "PROPFIND", "*"])
    func aRouteForAnyMethodTakesEveryOne(method: String) async {
        let response = await ask(Method(method), "/api/all")
        #expect(response.status == .ok)
        #expect(text(response) == (method == "HEAD" ? "" : "any /api/all"))
    }

    @Test func aRouteForOneMethodComesBeforeTheOneForAny() async {
        #expect(text(await ask(.put, "/api/all")) == "put /api/all")
        // It adds no method to those of the server.
        let options = await ask(.options, "*")
        #expect(options.header("Allow") == "DELETE, GET, HEAD, OPTIONS, POST, PUT")
    }

    @Test func aFaultThatIsAnsweredHasItsOwnResponse() async {
        let response = await ask(.get, "/api/answered")
        #expect(response.status == .serviceUnavailable && text(response) == "later")
    }

    @Test(arguments: [
        ("/", "/ /"), ("/api/things", "list /api/things"), ("/api/things/x", "x"),
        ("/api/things?q=/", "list /api/things"), ("/api/things/a%2Fb", "a/b"),
        ("/api/things/special", "special /api/things/special"),
        ("/api/things/special/tail", "tail /api/things/{name}/tail"),
        ("/%61pi/things", "list /api/things"), ("http://h/api/things", "list /api/things"),
        ("/api/accounts/7", "7 of /api/accounts/7"), ("/api/things/..", ".."),
    ])
    func aPathFindsItsRoute(target: String, answer: String) async {
        let response = await ask(.get, target)
        #expect(response.status == .ok)
        #expect(text(response) == answer)
    }

    @Test(arguments: [
        "/api", "/api/", "/api/things/", "/api/things/x/", "/api//things", "/api/./things",
        "/API/things", "/api/things/x/y", "/api/accounts/", "/api%2Fthings",
    ])
    func anUnknownPathIsTheGroups404(target: String) async {
        let response = await ask(.get, target)
        #expect(response.status == .notFound)
    }

    @Test(arguments: [
        ("/nope?a=b%20c", "https://a.test/nope?a=b%20c"), ("/", "https://a.test/"),
        ("//evil.test/x", "https://a.test//evil.test/x"),
        ("http://evil.test/x?y", "https://a.test/x?y"), ("/api/%2e", "https://a.test/api/%2e"),
    ])
    func unknownPathsAreRedirectedWhereThereIsAnOrigin(target: String, location: String) async {
        let redirecting = Router(
            groups: [
                RouteGroup(
                    prefixes: ["/api"], errors: renderer("api"),
                    routes: [Route(.get, "/api/known", handler: says("known"))])
            ], redirectingTo: "https://a.test", fallback: renderer("fallback"))
        for method in [Method.get, .post, Method("BREW")] {
            let response = await redirecting.respond(
                to: Request(method: method, target: target, body: [1]))
            #expect(response.status.code == 308 && response.header("location") == location)
        }
        let known = await redirecting.respond(to: Request(method: .get, target: "/api/known"))
        #expect(known.status == .ok)
        let bad = await redirecting.respond(to: Request(method: .get, target: "/%zz"))
        #expect(bad.status == .badRequest && bad.header("location") == nil)
    }

    @Test(arguments: [
        ("/api/nope", "api"), ("/api/v1/nope", "v1"), ("/apiary", "fallback"), ("/x", "fallback"),
        ("/api/v1", "v1"), ("/api/v12", "api"), ("/%61pi/nope", "api"), ("/api%2Fnope", "api"),
        ("/api/things/%00", "api"), ("/api/v1/{", "v1"), ("/api/things/%zz", "api"),
        ("/%00", "fallback"),
    ])
    func errorsAreRenderedByTheGroupWithTheLongestPrefix(target: String, group: String) async {
        #expect(await text(ask(.get, target)) == "\(group) \(target)")
    }

    @Test func anotherMethodIs405WithAllow() async {
        let response = await ask(.put, "/api/things")
        #expect(response.status == .methodNotAllowed)
        #expect(response.header("allow") == "GET, HEAD, OPTIONS, POST")
        #expect(await ask(Method("BREW"), "/api/things").status == .methodNotAllowed)
        #expect(await ask(.trace, "/api/things").status == .methodNotAllowed)
    }

    @Test func theOrderIs404Then405Then413() async {
        let large: [UInt8] = [1, 2, 3, 4, 5]
        #expect(await ask(.post, "/nope", body: large).status == .notFound)
        #expect(await ask(.put, "/api/things", body: large).status == .methodNotAllowed)
        #expect(await ask(.post, "/api/things", body: large).status == .contentTooLarge)
        #expect(await ask(.post, "/api/things", body: [1, 2, 3, 4]).status == .ok)
    }

    @Test func headIsAnsweredByGetWithoutABody() async {
        let response = await ask(.head, "/api/things")
        #expect(response.status == .ok)
        #expect(response.body.isEmpty)
    }

    @Test func optionsIsAnsweredByTheTable() async {
        let response = await ask(.options, "/api/accounts/7")
        #expect(response.status == .noContent)
        #expect(response.header("Allow") == "GET, HEAD, OPTIONS")
        let all = await ask(.options, "*")
        #expect(all.header("Allow") == "DELETE, GET, HEAD, OPTIONS, POST, PUT")
    }

    @Test(arguments: ["/api/fail", "/api/split"])
    func aThrownErrorOrAnInvalidResponseIsTheGroups500(target: String) async {
        let response = await ask(.get, target)
        #expect(response.status == .internalServerError)
        #expect(text(response) == "api \(target)")
    }

    @Test(arguments: ["", "x", "/%", "/\r\n", "*"])
    func anInvalidTargetIs400(target: String) async {
        #expect(await ask(.get, target).status == .badRequest)
    }

    @Test func mountingAPathTwiceTraps() async {
        await #expect(processExitsWith: .failure) {
            let renderer: ErrorRenderer = { _, _ in Response(status: .notFound) }
            let handler: Handler = { _ in Response(status: .ok) }
            let routes = [
                Route(.get, "/a/{x}", handler: handler), Route(.get, "/a/{y}", handler: handler),
            ]
            _ = Router(
                groups: [RouteGroup(prefixes: [], errors: renderer, routes: routes)],
                fallback: renderer)
        }
    }
}
