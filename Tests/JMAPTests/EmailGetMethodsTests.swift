import LocalMail
import StrictJSON
import Testing

@testable import JMAP

@Suite struct EmailGetMethodsTests {
    private let site: MailSite
    private var ann: Client { site.ann }

    init() throws { site = try MailSite() }

    private static let message = """
        Received: by here.test; Mon, 2 Jan 2023 03:04:05 +0200
        Date: Mon, 2 Jan 2023 03:04:05 +0200
        From: Ann <ann@here.test>, bob@here.test
        To: Team: a@x.test, b@x.test;, c@x.test
        Reply-To: <r@x.test>
        Message-ID: <1@x.test>
        References: <a@x.test> <b@x.test>
        Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=
        X-Many: one
        X-Many: two
        List-Unsubscribe: <https://x.test/u>, <mailto:u@x.test>
        MIME-Version: 1.0
        Content-Type: multipart/mixed; boundary=m

        --m
        Content-Type: multipart/alternative; boundary=a

        --a
        Content-Type: text/plain; charset=utf-8

        Hällo
        --a
        Content-Type: text/html; charset=utf-8

        <p>Hällo</p>
        --a--
        --m
        Content-Type: application/pdf; name="f.pdf"
        Content-Disposition: attachment; filename="f.pdf"
        Content-Transfer-Encoding: base64

        AAEC
        --m
        Content-Type: message/rfc822

        Subject: inner
        Content-Type: text/plain

        within
        --m--
        """

    @Test func theDefaultPropertiesAreThoseOfTheRFC() async throws {
        let id = try ann.add(Self.message, keywords: ["$seen"]).id
        let (_, response) = try await ann.call(
            "Email/get", #"{"accountId":"ann","ids":["\#(id)"]}"#)
        let email = try #require(response["list"]?.array?.first)
        #expect(
            email.object?.members.map(\.name)
                == EmailProperties.metadata + EmailProperties.content)
        #expect(email["keywords"] == (try .json(#"{"$seen":true}"#)))
        #expect(email["mailboxIds"] == (try .json(#"{"\#(ann.folder(.inbox))":true}"#)))
        #expect(email["receivedAt"] == .string("2023-11-14T22:13:20Z"))
        #expect(email["sentAt"] == .string("2023-01-02T03:04:05+02:00"))
        #expect(email["messageId"] == .strings(["1@x.test"]))
        #expect(email["inReplyTo"] == .null && email["cc"] == .null)
        #expect(email["references"] == .strings(["a@x.test", "b@x.test"]))
        #expect(email["subject"] == .string("Grüße"))
        #expect(
            email["from"]
                == (try .json(
                    #"[{"name":"Ann","email":"ann@here.test"},{"name":null,"email":"bob@here.test"}]"#
                )))
        #expect(email["to"]?.array?.count == 3)
        #expect(email["replyTo", "0", "email"] == .string("r@x.test"))
        #expect(email["preview"] == .string("Hällo"))
        #expect(email["hasAttachment"] == .bool(true))
        #expect(email["bodyValues"] == .object(JSONObject(members: [])))
        #expect(email["textBody", "0", "partId"] == .string("1.1"))
        #expect(email["htmlBody", "0", "partId"] == .string("1.2"))
        #expect(email["attachments"]?.array?.count == 2)
        #expect(response["state"]?.string == ann.mail.states[.email])
    }

    @Test(arguments: [
        ("header:Subject", #"" =?utf-8?Q?Gr=C3=BC=C3=9Fe?=""#),
        ("header:subject:asText", #""Grüße""#), ("header:X-Many", #"" two""#),
        ("header:X-Many:all", #"[" one"," two"]"#), ("header:X-Many:asText:all", #"["one","two"]"#),
        ("header:X-None", "null"), ("header:X-None:asAddresses", "null"),
        ("header:X-None:all", "[]"), ("header:Message-ID:asMessageIds", #"["1@x.test"]"#),
        ("header:Date:asDate", #""2023-01-02T03:04:05+02:00""#),
        ("header:X-Many:asDate", "null"), ("header:X-Many:asURLs", "null"),
        ("header:List-Unsubscribe:asURLs", #"["https://x.test/u","mailto:u@x.test"]"#),
        (
            "header:To:asGroupedAddresses",
            #"[{"name":"Team","addresses":[{"name":null,"email":"a@x.test"},"#
                + #"{"name":null,"email":"b@x.test"}]},"#
                + #"{"name":null,"addresses":[{"name":null,"email":"c@x.test"}]}]"#
        ),
        ("header:Reply-To:asAddresses:all", #"[[{"name":null,"email":"r@x.test"}]]"#),
    ])
    func aHeaderFieldHasTheFormThatIsAskedFor(_ property: String, _ json: String) async throws {
        let id = try ann.add(Self.message).id
        #expect(try await ann.get(id, [property])[property] == (try .json(json)))
    }

    @Test(arguments: [
        "header:", "header:a b", "header:Ä", "header:X:asHTML", "header:X:all:asText",
        "header:X:asText:all:all", "header:X:", "Header:X", "header:From:asText",
        "header:Subject:asAddresses", "header:Date:asText", "header:Received:asText",
        "header:Message-ID:asText", "header:List-Post:asText", "header:To:asMessageIds", "x", "",
    ])
    func aFormThatTheFieldDoesNotHaveIsInvalid(_ property: String) async throws {
        let arguments = #"{"accountId":"ann","ids":[],"properties":["\#(property)"]}"#
        #expect(try await ann.error("Email/get", arguments) == "invalidArguments")
        let parts = #"{"accountId":"ann","ids":[],"bodyProperties":["\#(property)"]}"#
        #expect(try await ann.error("Email/get", parts) == "invalidArguments")
    }

    @Test func headersAreAllFieldsInTheirOrder() async throws {
        let id = try ann.add("A: 1\nB: 2\n  3\nA: 4\n\nx").id
        #expect(
            try await ann.get(id, ["headers"])["headers"]
                == (try .json(
                    #"[{"name":"A","value":" 1"},{"name":"B","value":" 2\r\n  3"},"#
                        + #"{"name":"A","value":" 4"}]"#)))
    }

    @Test func theStructureHasAllPartsAndEachLeafABlob() async throws {
        let id = try ann.add(Self.message).id
        let email = try await ann.get(id, ["bodyStructure"])
        let root = try #require(email["bodyStructure"])
        #expect(root["type"] == .string("multipart/mixed") && root["blobId"] == .null)
        #expect(root["partId"] == .null && root["size"] == .integer(0))
        #expect(root["subParts", "0", "subParts", "1", "type"] == .string("text/html"))
        let pdf = try #require(root["subParts", "1"])
        #expect(pdf["name"] == .string("f.pdf") && pdf["size"] == .integer(3))
        #expect(pdf["disposition"] == .string("attachment") && pdf["cid"] == .null)
        var reader = BlobReader(ann.mail)
        let blob = try #require(pdf["blobId"]?.string.flatMap { reader.blob($0) })
        #expect(blob.bytes == [0, 1, 2] && blob.type == "application/pdf")
        // A part of the message within the message.
        let inner = try #require(root["subParts", "2", "blobId"]?.string)
        #expect(reader.blob(inner)?.type == "message/rfc822")
        #expect(reader.blob("\(inner)-1").map { $0.bytes } == Array("within".utf8))
    }

    @Test func bodyPropertiesAreThoseThatAreNamed() async throws {
        let id = try ann.add(Self.message).id
        let email = try await ann.get(
            id, ["textBody", "bodyStructure"],
            more: #","bodyProperties":["type","header:Content-Type","headers","subParts"]"#)
        #expect(
            email["textBody"]?["0"]
                == (try .json(
                    #"{"type":"text/plain","header:Content-Type":" text/plain; charset=utf-8","#
                        + #""headers":[{"name":"Content-Type","value":" text/plain; charset=utf-8"}],"#
                        + #""subParts":null}"#)))
        #expect(email["bodyStructure"]?["subParts", "1", "subParts"] == .null)
    }

    @Test(arguments: [
        ("", []), (#","fetchTextBodyValues":true"#, ["1.1"]),
        (#","fetchHTMLBodyValues":true"#, ["1.2"]),
        (#","fetchTextBodyValues":true,"fetchHTMLBodyValues":true"#, ["1.1", "1.2"]),
        (#","fetchAllBodyValues":true"#, ["1.1", "1.2"]),
    ])
    func bodyValuesAreThoseOfTheListsThatAreFetched(
        _ more: String, _ parts: [String]
    ) async throws {
        let id = try ann.add(Self.message).id
        let values = try await ann.get(id, ["bodyValues"], more: more)["bodyValues"]
        #expect(values?.object?.members.map(\.name) == parts)
        if let value = values?["1.1"] {
            #expect(
                value
                    == (try .json(
                        #"{"value":"Hällo","isEncodingProblem":false,"isTruncated":false}"#)))
        }
    }

    @Test(arguments: [
        (1, "H", "", true), (2, "H", "", true), (3, "Hä", "<p>", true), (5, "Häll", "<p>H", true),
        (6, "Hällo", "<p>Hä", true), (0, "Hällo", "<p>Hällo</p>", false),
        (11, "Hällo", "<p>Hällo", true), (100, "Hällo", "<p>Hällo</p>", false),
    ])
    func aLongValueIsCutBetweenCharactersAndOutsideOfTags(
        _ bytes: Int, _ text: String, _ html: String, _ isTruncated: Bool
    ) async throws {
        let id = try ann.add(Self.message).id
        let values = try await ann.get(
            id, ["bodyValues"], more: #","fetchAllBodyValues":true,"maxBodyValueBytes":\#(bytes)"#)[
                "bodyValues"]
        #expect(values?["1.1", "value"] == .string(text))
        #expect(values?["1.2", "value"] == .string(html))
        #expect(values?["1.2", "isTruncated"] == .bool(isTruncated))
    }

    @Test func aMessageThatIsNoMessageIsShownAllTheSame() async throws {
        for bytes: [UInt8] in [[], [0], [0xFF, 0xFE], Array("\r\n\r\n".utf8)] {
            let id = try ann.add(bytes).id
            let email = try await ann.get(
                id, EmailProperties.content + ["headers", "bodyStructure"],
                more: #","fetchAllBodyValues":true"#)
            #expect(email["headers"] == .array([]) && email["subject"] == .null)
            #expect(email["bodyStructure"]?["type"] == .string("text/plain"))
        }
    }

    @Test(arguments: [
        (#"{"accountId":"bob","ids":[]}"#, "accountNotFound"),
        (#"{"accountId":"ann","ids":{}}"#, "invalidArguments"),
        (#"{"accountId":"ann","ids":[],"properties":[1]}"#, "invalidArguments"),
        (#"{"accountId":"ann","ids":[],"maxBodyValueBytes":-1}"#, "invalidArguments"),
        (#"{"accountId":"ann","ids":[],"fetchAllBodyValues":1}"#, "invalidArguments"),
        (#"{"accountId":"ann","ids":[],"x":1}"#, "invalidArguments"),
    ])
    func aWrongCallHasItsError(_ arguments: String, _ type: String) async throws {
        #expect(try await ann.error("Email/get", arguments) == type)
    }

    @Test func unknownIDsAreNotFoundAndWithoutIDsAllAreReturned() async throws {
        let id = try ann.add("A: 1\n\nx").id
        let (_, some) = try await ann.call(
            "Email/get", #"{"accountId":"ann","ids":["x","\#(id)"],"properties":["id"]}"#)
        #expect(some["notFound"] == .strings(["x"]))
        let (_, all) = try await ann.call("Email/get", #"{"accountId":"ann","ids":null}"#)
        #expect(all["list"]?.array?.count == 1)
        for _ in 0..<Arguments.maxObjects { _ = try ann.add("A: 1\n\nx") }
        #expect(
            try await ann.error("Email/get", #"{"accountId":"ann","ids":null}"#)
                == "requestTooLarge")
    }

    @Test func theCallsOfOneRequestReadAndReturnABoundedNumberOfBytes() throws {
        var context = CallContext(mail: ann.mail, createdIDs: [:])
        for _ in 0..<256 { try context.read(1 << 20) }
        #expect(throws: MethodError.requestTooLarge) { try context.read(1) }
        #expect(throws: MethodError.requestTooLarge) { try context.read(.max) }
        let object = JSONValue.string(String(repeating: "x", count: 1 << 20))
        for _ in 0..<47 { try context.returns(object) }
        #expect(throws: MethodError.requestTooLarge) { try context.returns(object) }
        #expect(throws: MethodError.requestTooLarge) { try context.returns(.null) }
    }

    @Test func whatAMessageTakesIsCounted() async throws {
        let email = try ann.add("Subject: a\n\nbody")
        let client = ann
        let methods = ["Email/get", "Email/parse", "Blob/get", "SearchSnippet/get"]
        let calls = [
            #"{"accountId":"ann","ids":["\#(email.id)"],"fetchAllBodyValues":true}"#,
            #"{"accountId":"ann","blobIds":["\#(email.blobID)"]}"#,
            #"{"accountId":"ann","ids":["\#(email.blobID)"]}"#,
            #"{"accountId":"ann","emailIds":["\#(email.id)"],"filter":{"text":"b"}}"#,
        ]
        for (method, arguments) in zip(methods, calls) {
            var context = CallContext(mail: client.mail, createdIDs: [:])
            try context.read(256 << 20)
            let object = try #require(try JSONValue.json(arguments).object)
            await #expect(throws: MethodError.requestTooLarge, "\(method)") {
                _ = try await Dispatcher.methods[method]?.call(
                    Arguments(object: object), &context)
            }
        }
    }

    @Test func tooManyPropertiesAreInvalid() async throws {
        let names = (0...EmailProperties.maxCount).map { #""header:X-\#($0)""# }
            .joined(separator: ",")
        #expect(
            try await ann.error(
                "Email/get", #"{"accountId":"ann","ids":[],"properties":[\#(names)]}"#)
                == "invalidArguments")
    }

    // MARK: Parse

    @Test func anUploadedMessageIsParsed() async throws {
        let blob = try ann.upload("Subject: a\r\n\r\nbody", type: "message/rfc822")
        let none = try ann.upload("no message")
        let (_, response) = try await ann.call(
            "Email/parse",
            #"{"accountId":"ann","blobIds":["\#(blob)","\#(none)","x"],"#
                + #""properties":["subject","id","blobId","size","preview","textBody"]}"#)
        let email = try #require(response["parsed"]?[blob])
        #expect(email["subject"] == .string("a") && email["id"] == .null)
        #expect(email["blobId"] == .string(blob) && email["size"] == .integer(18))
        #expect(email["preview"] == .string("body"))
        var reader = BlobReader(ann.mail)
        let part = email["textBody", "0", "blobId"]?.string.flatMap { reader.blob($0) }
        #expect(part?.bytes == Array("body".utf8))
        #expect(response["notParsable"] == .strings([none]))
        #expect(response["notFound"] == .strings(["x"]))
    }

    @Test func anAttachedMessageIsParsed() async throws {
        let id = try ann.add(Self.message).id
        let attachments = try await ann.get(id, ["attachments"])["attachments"]
        let blob = try #require(attachments?["1", "blobId"]?.string)
        let (_, response) = try await ann.call(
            "Email/parse",
            #"{"accountId":"ann","blobIds":["\#(blob)"],"fetchAllBodyValues":true}"#)
        let email = try #require(response["parsed"]?[blob])
        #expect(email.object?.members.map(\.name) == EmailProperties.content)
        #expect(email["subject"] == .string("inner"))
        #expect(email["bodyValues", "1", "value"] == .string("within"))
        #expect(response["notFound"] == .null && response["notParsable"] == .null)
    }

    @Test(arguments: [
        #"{"accountId":"ann"}"#, #"{"accountId":"ann","blobIds":1}"#,
        #"{"accountId":"ann","blobIds":[],"properties":["x"]}"#,
    ])
    func aWrongParseIsInvalid(_ arguments: String) async throws {
        #expect(try await ann.error("Email/parse", arguments) == "invalidArguments")
    }
}
