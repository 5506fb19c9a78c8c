import StrictJSON
import Testing

@testable import JMAP

@Suite struct DispatcherTests {
    private static let core = "urn:ietf:params:jmap:core"

    /// `echo` gives its arguments back, `make` creates an id, `use` resolves one, `two` has two
    /// responses.
    private let dispatcher = Dispatcher(
        methods: [
            "echo": JMAPMethod(core) { arguments, _ throws(MethodError) in
                [.init(arguments.object.members)]
            },
            "make": JMAPMethod(core) { _, context throws(MethodError) in
                context.created("new", as: "M1")
                return [.init([])]
            },
            "use": JMAPMethod(core) { arguments, context throws(MethodError) in
                [.init([.init("id", .string(context.id(try arguments.requiredString("id"))))])]
            },
            "two": JMAPMethod(core) { arguments, _ throws(MethodError) in
                [.init(arguments.object.members), .init(arguments.object.members, of: "other")]
            },
            // One array of all arguments.
            "join": JMAPMethod(core) { arguments, _ throws(MethodError) in
                [.init([.init("a", .array(arguments.object.members.map(\.value)))])]
            },
            "mail": JMAPMethod(Capability.mail) { _, _ throws(MethodError) in
                []
            },
        ], resolvingInFilters: ["inMailbox"])

    private func respond(_ calls: String, more: String = "") async throws -> String {
        let body = #"{"using":["\#(Self.core)"],"methodCalls":[\#(calls)]\#(more)}"#
        let request = try JMAPRequest(
            Array(body.utf8), capabilities: [Self.core, "urn:ietf:params:jmap:mail"], maxCalls: 9)
        let bytes = await dispatcher.respond(
            to: request, for: MailSamples.mail(), sessionState: "s")
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func callsAreMadeInOrderAndAFailedOneDoesNotStopTheOthers() async throws {
        let answer = try await respond(
            #"["echo",{"a":1},"0"],["nothing",{},"1"],["mail",{},"2"],["two",{},"3"]"#)
        #expect(
            answer == """
                {"methodResponses":[["echo",{"a":1},"0"],["error",{"type":"unknownMethod"},"1"],\
                ["error",{"type":"unknownMethod"},"2"],["two",{},"3"],["other",{},"3"]],\
                "sessionState":"s"}
                """)
    }

    @Test func creationIDsPassFromCallToCallAndBackToTheClient() async throws {
        let answer = try await respond(
            ##"["use",{"id":"#new"},"0"],["make",{},"1"],["use",{"id":"#new"},"2"],"##
                + ##"["use",{"id":"#old"},"3"]"##,
            more: #","createdIds":{"old":"M0"}"#)
        #expect(
            answer == """
                {"methodResponses":[["use",{"id":"#new"},"0"],\
                ["make",{},"1"],["use",{"id":"M1"},"2"],["use",{"id":"M0"},"3"]],\
                "createdIds":{"new":"M1","old":"M0"},"sessionState":"s"}
                """)
    }

    @Test(arguments: [
        ("/ids", #"["a","b"]"#), ("/ids/1", #""b""#), ("/list/*/threadId", #"["t","u"]"#),
        ("/list/*/keys", #"["x","y","z"]"#), ("/a~1b", "1"), ("/m~0n", "2"), ("/~01", "3"),
        ("/list/0/threadId", #""t""#),
    ])
    func aReferenceIsAPointerWithStars(_ path: String, _ value: String) async throws {
        let result =
            #"{"ids":["a","b"],"list":[{"threadId":"t","keys":["x","y"]},{"threadId":"u","keys":["z"]}],"#
            + #""a/b":1,"m~n":2,"~1":3}"#
        let answer = try await respond(
            ##"["echo",\##(result),"0"],"##
                + ##"["echo",{"#v":{"resultOf":"0","name":"echo","path":"\##(path)"}},"1"]"##)
        #expect(answer.contains(##"["echo",{"v":\##(value)},"1"]"##))
    }

    @Test(arguments: [
        ("1", "echo", "/ids"), ("0", "other", "/ids"), ("0", "echo", "ids"), ("0", "echo", ""),
        ("0", "echo", "/ids/2"), ("0", "echo", "/ids/01"), ("0", "echo", "/ids/-1"),
        ("0", "echo", "/none"), ("0", "echo", "/ids/*/x"), ("0", "echo", "/ids/"),
        ("0", "echo", "/ids/99999999999999999999"),
    ])
    func aReferenceToNothingFailsItsCallOnly(
        _ resultOf: String, _ name: String, _ path: String
    ) async throws {
        let answer = try await respond(
            ##"["echo",{"ids":["a","b"]},"0"],["echo",{"#v":"##
                + ##"{"resultOf":"\##(resultOf)","name":"\##(name)","path":"\##(path)"}},"x"],"##
                + ##"["echo",{},"2"]"##)
        #expect(answer.contains(#"["error",{"type":"invalidResultReference","#))
        #expect(answer.contains(#"["echo",{},"2"]"#))
    }

    @Test(arguments: [
        ##"{"#v":{"resultOf":"0","name":"echo","path":"/a"},"v":1}"##, ##"{"#v":1}"##,
        ##"{"#v":{"resultOf":"0","name":"echo"}}"##,
    ])
    func anArgumentIsGivenOnceAndAReferenceIsWhole(_ arguments: String) async throws {
        let answer = try await respond(##"["echo",{"a":1},"0"],["echo",\##(arguments),"1"]"##)
        #expect(answer.contains(#"["error",{"type":"invalidArguments","#))
    }

    @Test func aFilterMayHaveTheReferenceThatTheDocumentedExampleSends() async throws {
        let answer = try await respond(
            ##"["echo",{"ids":["a"]},"q"],["echo",{"filter":{"operator":"AND","conditions":["##
                + ##"{"inMailbox":{"resultOf":"q","name":"echo","path":"/ids/0"}},{"minSize":1}]}},"1"]"##
        )
        #expect(
            answer.contains(
                #"{"filter":{"operator":"AND","conditions":[{"inMailbox":"a"},{"minSize":1}]}}"#))
    }

    @Test func aReferenceSelectsABoundedNumberOfValues() async throws {
        let many = Array(repeating: #"{"k":["a"]}"#, count: 10_001).joined(separator: ",")
        let answer = try await respond(
            ##"["echo",{"l":[\##(many)]},"0"],"##
                + ##"["echo",{"#v":{"resultOf":"0","name":"echo","path":"/l/*/k"}},"1"]"##)
        #expect(answer.hasSuffix(#""sessionState":"s"}"#))
        #expect(answer.contains("selects more than 10000 values"))
    }

    @Test func responsesThatSelectOneAnotherDoNotGrowWithoutEnd() async throws {
        var calls = [#"["join",{"a":["\#(String(repeating: "x", count: 1000))"]},"0"]"#]
        for call in 1..<9 {
            let reference = #"{"resultOf":"\#(call - 1)","name":"join","path":"/a"}"#
            let members = (0..<40).map { ##""#a\##($0)":\##(reference)"## }
            calls.append(#"["join",{\#(members.joined(separator: ","))},"\#(call)"]"#)
        }
        let answer = try await respond(calls.joined(separator: ","))
        #expect(answer.utf8.count < 3 * Dispatcher.referencedBytes)
        #expect(answer.contains("select too many bytes"))
    }

    @Test func aReferencePaysForWhatItLooksAt() throws {
        let empty = Invocation(
            "echo", try #require(try JSONValue.json(#"{"a":[[],[],[],[]]}"#).object), callID: "0")
        let given = #"{"resultOf":"0","name":"echo","path":"/a/*/*"}"#
        let reference = try #require(ResultReference(try .json(given)))
        var budget = 20
        #expect(try reference.value(in: [empty], &budget) == .array([]))
        #expect(budget < 10)
        #expect(throws: MethodError.self) { try reference.value(in: [empty], &budget) }
    }

    @Test func aCallHasABoundedNumberOfArguments() async throws {
        let members = (0..<65).map { #""a\#($0)":1"# }
        let answer = try await respond(#"["echo",{\#(members.joined(separator: ","))},"0"]"#)
        #expect(answer.contains(#"["error",{"type":"invalidArguments","#))
        let fewer = try await respond(
            #"["echo",{\#(members.dropLast().joined(separator: ","))},"0"]"#)
        #expect(!fewer.contains("error"))
    }
}
