import LocalMail
import MIME
import StrictJSON
import Testing

@testable import JMAP

@Suite struct BlobMethodsTests {
    private let site: MailSite
    private var ann: Client { site.ann }

    init() throws { site = try MailSite() }

    @Test func theExampleOfTheRFCPutsABlobTogether() async throws {
        let responses = try await ann.responses(
            ##"["Blob/upload",{"accountId":"ann","create":{"b4":{"data":["##
                + ##"{"data:asText":"The quick brown fox jumped over the lazy dog."}]},"##
                + ##""cat":{"type":"text/plain","data":[{"data:asText":"How"},"##
                + ##"{"blobId":"#b4","length":7,"offset":3},{"data:asText":"was t"},"##
                + ##"{"blobId":"#b4","length":1,"offset":1},{"data:asBase64":"YXQ/"}]}}},"S4"],"##
                + ##"["Blob/get",{"accountId":"ann","ids":["#cat","#b4"],"##
                + ##""properties":["data:asText","size"]},"G4"]"##)
        #expect(responses[0].value["created", "cat", "type"] == .string("text/plain"))
        #expect(responses[0].value["created", "b4", "type"] == .string("application/octet-stream"))
        #expect(responses[0].value["created", "b4", "size"] == .integer(45))
        #expect(responses[0].value["notCreated"] == .null)
        #expect(responses[0].value["oldState"] == nil)
        let list = try #require(responses[1].value["list"])
        #expect(list["0", "data:asText"] == .string("How quick was that?"))
        #expect(list["1", "size"] == .integer(45))
    }

    @Test(arguments: [
        ("1", "invalidProperties"), ("{}", "invalidProperties"),
        (#"{"data":1}"#, "invalidProperties"),
        (#"{"data":[1]}"#, "invalidProperties"), (#"{"data":[{}]}"#, "invalidProperties"),
        (#"{"data":[{"data:asText":1}]}"#, "invalidProperties"),
        (#"{"data":[{"data:asBase64":"*"}]}"#, "invalidProperties"),
        (#"{"data":[{"data:asText":"a","data:asBase64":"YQ=="}]}"#, "invalidProperties"),
        (#"{"data":[{"blobId":"x"}]}"#, "blobNotFound"),
        (#"{"data":[{"blobId":"BLOB","offset":5}]}"#, "invalidProperties"),
        (#"{"data":[{"blobId":"BLOB","offset":3,"length":2}]}"#, "invalidProperties"),
        (#"{"data":[{"blobId":"BLOB","y":2}]}"#, "invalidProperties"),
        (#"{"data":[],"type":"text"}"#, "invalidProperties"),
        (#"{"data":[],"type":1}"#, "invalidProperties"),
        (#"{"data":[],"type":"text/\n"}"#, "invalidProperties"),
        (#"{"data":[],"y":1}"#, "invalidProperties"), (#"{"data":[]}"#, nil),
        (#"{"data":[{"blobId":"BLOB","offset":4,"length":0}],"type":null}"#, nil),
        (#"{"data":[{"data:asBase64":"YQ","blobId":null}]}"#, nil),
    ])
    func aWrongUploadHasItsError(_ object: String, _ type: String?) async throws {
        let blob = try ann.upload("four")
        let (_, response) = try await ann.call(
            "Blob/upload",
            #"{"accountId":"ann","create":{"k":\#(object.replacing("BLOB", with: blob))}}"#)
        #expect(response["notCreated"]?["k", "type"]?.string == type)
        #expect((response["created"]?["k", "id"] != nil) == (type == nil))
    }

    @Test func anUploadHasTheLimitsOfTheSessionObject() async throws {
        var limits = MailLimits()
        (limits.messageBytes, limits.uploadedBytes) = (10, 25)
        let ann = try MailSite(limits: limits).ann
        func upload(_ sources: [String]) -> String {
            #"{"data":[\#(sources.joined(separator: ","))]}"#
        }
        let ten = #"{"data:asText":"0123456789"}"#
        let none = Array(repeating: #"{"data:asText":""}"#, count: 65)
        let (_, response) = try await ann.call(
            "Blob/upload",
            #"{"accountId":"ann","create":{"long":\#(upload([ten, #"{"data:asText":"x"}"#])),"#
                + #""many":\#(upload(none)),"most":\#(upload(none.dropLast())),"#
                + #""a":\#(upload([ten])),"b":\#(upload([ten])),"c":\#(upload([ten]))}}"#)
        let errors = response["notCreated"]
        #expect(errors?["long", "type"] == .string("tooLarge"))
        #expect(errors?["long", "maxSize"] == .integer(10))
        #expect(errors?["many", "type"] == .string("invalidProperties"))
        #expect(errors?["c", "type"] == .string("overQuota"))
        #expect(response["created"]?.object?.members.map(\.name) == ["most", "a", "b"])
    }

    @Test(arguments: [
        ("", #"{"id":"ID","data:asText":"Grüße","size":7}"#),
        (#","properties":["data:asBase64"]"#, #"{"id":"ID","data:asBase64":"R3LDvMOfZQ=="}"#),
        (#","properties":["size"],"offset":99"#, #"{"id":"ID","size":7,"isTruncated":true}"#),
        (#","offset":2,"length":2,"properties":["data"]"#, #"{"id":"ID","data:asText":"ü"}"#),
        (
            #","offset":3,"length":1,"properties":["data"]"#,
            #"{"id":"ID","data:asBase64":"vA==","isEncodingProblem":true}"#
        ),
        (
            #","offset":3,"length":1,"properties":["data:asText"]"#,
            #"{"id":"ID","data:asText":null,"isEncodingProblem":true}"#
        ),
        (
            #","offset":6,"length":2,"properties":["data"]"#,
            #"{"id":"ID","data:asText":"e","isTruncated":true}"#
        ),
        (
            #","length":0,"properties":["digest:sha-256"]"#,
            #"{"id":"ID","digest:sha-256":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}"#
        ),
    ])
    func aBlobIsReturnedAsItIsAskedFor(_ arguments: String, _ json: String) async throws {
        let id = try ann.upload("Grüße")
        let (_, response) = try await ann.call(
            "Blob/get", #"{"accountId":"ann","ids":["\#(id)","x"]\#(arguments)}"#)
        #expect(response["list"]?["0"] == (try .json(json.replacing("ID", with: id))))
        #expect(response["notFound"] == .strings(["x"]))
    }

    @Test(arguments: [
        ("Blob/get", #"{"accountId":"ann"}"#, "requestTooLarge"),
        (
            "Blob/get", #"{"accountId":"ann","ids":[],"properties":["digest:md5"]}"#,
            "invalidArguments"
        ),
        ("Blob/get", #"{"accountId":"ann","ids":[],"offset":-1}"#, "invalidArguments"),
        ("Blob/get", #"{"accountId":"ann","ids":[],"length":"1"}"#, "invalidArguments"),
        ("Blob/get", #"{"accountId":"bob","ids":[]}"#, "accountNotFound"),
        ("Blob/upload", #"{"accountId":"ann","create":[]}"#, "invalidArguments"),
        ("Blob/upload", #"{"accountId":"ann","x":1}"#, "invalidArguments"),
        ("Blob/lookup", #"{"accountId":"ann","ids":[]}"#, "unknownMethod"),
    ])
    func aWrongCallHasItsError(_ name: String, _ arguments: String, _ type: String) async throws {
        #expect(try await ann.error(name, arguments) == type)
    }

    @Test func aBlobIsItsAccountsOnly() async throws {
        let message = try ann.add("Subject: a\n\nb")
        var (anns, bobs) = (BlobReader(ann.mail), BlobReader(site.bob.mail))
        #expect(anns.blob(message.blobID)?.type == "message/rfc822")
        #expect(anns.blob("\(message.blobID)-1")?.bytes == Array("b".utf8))
        #expect(bobs.blob(message.blobID) == nil && bobs.blob("\(message.blobID)-1") == nil)
    }

    @Test(arguments: [
        "", "-", "-1", "ID-", "ID-0", "ID-01", "ID-2", "ID--1", "ID-+1", "ID-1234567", "ID-1x",
        "ID-1-1-1-1-1-1-1-1-1-1-1", " ID", "ID ",
    ])
    func anotherTextIsTheIDOfNoBlob(_ id: String) throws {
        let message = try ann.add("Subject: a\n\nb").blobID
        var reader = BlobReader(ann.mail)
        #expect(reader.blob(id.replacing("ID", with: message)) == nil)
    }
}

@Suite struct JMAPLimitsTests {
    @Test func theSessionObjectHasEveryLimitAndCapability() throws {
        var mail = MailLimits()
        mail.messageBytes = 78_000
        let limits = JMAPLimits(mail)
        let session = try JSONValue.parse(
            JSONWriter.object { object in
                object.member("capabilities", limits.writeCapabilities)
                object.member("accountCapabilities", limits.writeAccountCapabilities)
            })
        let capabilities = try #require(session["capabilities"]?.object)
        #expect(Set(capabilities.members.map(\.name)) == JMAPLimits.capabilities)
        let core = try #require(capabilities[Capability.core]?.object)
        #expect(
            core.members.map(\.name) == [
                "maxSizeUpload", "maxConcurrentUpload", "maxSizeRequest", "maxConcurrentRequests",
                "maxCallsInRequest", "maxObjectsInGet", "maxObjectsInSet", "collationAlgorithms",
            ])
        #expect(core["maxSizeUpload"] == .integer(78_000))
        let account = try #require(session["accountCapabilities"])
        #expect(account[Capability.mail, "maxSizeAttachmentsPerEmail"] == .integer(57_000))
        #expect(account[Capability.mail, "maxMailboxDepth"] == .integer(10))
        #expect(account[Capability.submission, "maxDelayedSend"] == .integer(0))
        #expect(account[Capability.blob, "maxDataSources"] == .integer(64))
        #expect(account[Capability.blob, "maxSizeBlobSet"] == .integer(78_000))
    }

    @Test(arguments: JMAPLimits.emailSortOptions)
    func eachSortOptionOfTheSessionObjectIsOne(_ option: String) async throws {
        let site = try MailSite()
        #expect(
            try await site.ann.error(
                "Email/query",
                #"{"accountId":"ann","sort":[{"property":"\#(option)","keyword":"$seen"}]}"#) == nil
        )
    }

    @Test func aRequestHasTheLimitsOfTheSessionObject() throws {
        let limits = JMAPLimits()
        let call = #"["Core/echo",{},"0"]"#
        func body(_ calls: Int) -> [UInt8] {
            let list = Array(repeating: call, count: calls).joined(separator: ",")
            return Array(#"{"using":["\#(Capability.core)"],"methodCalls":[\#(list)]}"#.utf8)
        }
        #expect(try JMAPRequest(body(16), limits: limits).calls.count == 16)
        #expect(throws: JMAPRequestError.limit("maxCallsInRequest")) {
            try JMAPRequest(body(17), limits: limits)
        }
        let padding = [UInt8](repeating: 0x20, count: limits.maxSizeRequest - body(1).count)
        #expect(try JMAPRequest(body(1) + padding, limits: limits).calls.count == 1)
        #expect(throws: JMAPRequestError.limit("maxSizeRequest")) {
            try JMAPRequest(body(1) + padding + [0x20], limits: limits)
        }
    }
}

@Suite struct MIMEReaderTests {
    private let message = Array(
        "From: A <a@x>\r\nX-A: =?utf-8?Q?=C3=A4?=\r\nSubject: s\r\nDate: Mon, 2 Jan 2023 03:04:05 +0200\r\nContent-Type: text/html\r\n\r\n<p>one&amp;two</p><script>no</script>"
            .utf8)

    @Test func aSummaryHasWhatListsNeed() throws {
        let summary = MIMEReader().summary(of: message)
        #expect(summary.from == [MailAddress(name: "A", email: "a@x")])
        #expect(summary.subject == "s" && summary.preview == "one&two" && summary.to.isEmpty)
        #expect(summary.sentAt == MailInstant(utcDate: "2023-01-02T01:04:05Z"))
        #expect(!summary.hasAttachment)
    }

    @Test func aSearchSeesTextWithoutMarkupAndDecodedFields() throws {
        let reader = MIMEReader()
        let text = reader.bodyText(of: message)
        #expect(text.contains("one&two") && !text.contains("<p>") && !text.contains("no"))
        #expect(reader.headerValues(named: "x-a", in: message) == ["ä"])
        #expect(reader.headerValues(named: "x-b", in: message).isEmpty)
    }
}
