import LocalMail
import StrictJSON
import Testing

@testable import JMAP

/// Email/set with `create` (RFC 8621 §4.6).
@Suite struct EmailCreationTests {
    private let site: MailSite
    private var ann: Client { site.ann }

    init() throws { site = try MailSite() }

    @Test func aTextIsWrittenWithItsFields() async throws {
        let result = try await ann.create(
            #""from":[{"email":"ann@here.test"}],"to":[{"name":"Bob","email":"bob@here.test"}],"#
                + #""subject":"Grüße","sentAt":"2024-01-02T03:04:05.678+02:00","#
                + #""inReplyTo":["a@x.test"],"header:X-A":" b","#
                + #""header:X-B:asText:all":["one","two"],"keywords":{"$draft":true},"#
                + #""receivedAt":"2024-01-02T00:00:00Z","textBody":[{"partId":"p","type":"text/plain"}],"#
                + #""bodyValues":{"p":{"value":"Hello\nworld"}}"#)
        let created = try #require(result.created)
        #expect(created.members.map(\.name) == ["id", "blobId", "threadId", "size"])
        let source = ann.source(created)
        for line in [
            "From: ann@here.test\n", "To: Bob <bob@here.test>\n",
            "Date: Tue, 02 Jan 2024 03:04:05 +0200\n", "In-Reply-To: <a@x.test>\n", "X-A: b\n",
            "X-B: one\nX-B: two\n", "Message-ID: <", "@here.test>\n", "\n\nHello\nworld",
        ] {
            #expect(source.contains(line), "\(line)")
        }
        let id = created["id"]?.string ?? ""
        let email = try await ann.get(
            id, ["subject", "keywords", "receivedAt", "mailboxIds", "sentAt", "size"])
        #expect(email["subject"] == .string("Grüße"))
        #expect(email["keywords"]?["$draft"] == .bool(true))
        #expect(email["receivedAt"] == .string("2024-01-02T00:00:00Z"))
        #expect(email["sentAt"] == .string("2024-01-02T03:04:05+02:00"))
        #expect(email["mailboxIds"]?[ann.folder(.drafts)] == .bool(true))
        #expect(email["size"] == created["size"])
    }

    @Test func textHTMLImagesAndAttachmentsHaveTheirPlaces() async throws {
        let blob = try ann.upload("data", type: "image/png")
        let result = try await ann.create(
            #""textBody":[{"partId":"t"}],"htmlBody":[{"partId":"h"}],"#
                + #""bodyValues":{"t":{"value":"t","isTruncated":false},"h":{"value":"<p>h</p>"}},"#
                + #""attachments":[{"blobId":"\#(blob)","cid":"c","type":"image/png"},"#
                + #"{"blobId":"\#(blob)","name":"ä.png","language":["de"],"location":"http://x/"}]"#
        )
        let id = try #require(result.created?["id"]?.string)
        let root = try #require(try await ann.get(id, ["bodyStructure"])["bodyStructure"])
        #expect(root["type"] == .string("multipart/mixed"))
        let body = root["subParts", "0"], file = root["subParts", "1"]
        #expect(body?["type"] == .string("multipart/alternative"))
        #expect(body?["subParts", "0", "type"] == .string("text/plain"))
        #expect(body?["subParts", "1", "type"] == .string("multipart/related"))
        #expect(body?["subParts", "1", "subParts", "1", "cid"] == .string("c"))
        #expect(body?["subParts", "1", "subParts", "1", "disposition"] == .string("inline"))
        #expect(file?["name"] == .string("ä.png") && file?["type"] == .string("image/png"))
        #expect(file?["disposition"] == .string("attachment"))
        #expect(file?["language"] == .strings(["de"]))
        #expect(file?["location"] == .string("http://x/") && file?["size"] == .integer(4))
    }

    @Test func aStructureIsWrittenAsItIs() async throws {
        let blob = try ann.upload("Subject: in\r\n\r\nx", type: "message/rfc822")
        let result = try await ann.create(
            #""subject":"s","bodyStructure":{"type":"multipart/digest","subParts":["#
                + #"{"blobId":"\#(blob)","type":"message/rfc822"},"#
                + #"{"type":"text/csv","partId":"c","header:Content-Description":" d"}]},"#
                + #""bodyValues":{"c":{"value":"a,b"}}"#)
        let id = try #require(result.created?["id"]?.string)
        let root = try await ann.get(
            id, ["bodyStructure"], more: #","bodyProperties":["type","header:Content-Description"]"#
        )
        #expect(
            root["bodyStructure"]
                == (try .json(
                    #"{"type":"multipart/digest","header:Content-Description":null,"subParts":["#
                        + #"{"type":"message/rfc822","header:Content-Description":null},"#
                        + #"{"type":"text/csv","header:Content-Description":" d"}]}"#)))
    }

    @Test func aMessageWithoutBodyIsEmptyText() async throws {
        let created = try #require(try await ann.create(#""subject":"s""#).created)
        let email = try await ann.get(created["id"]?.string ?? "", ["bodyStructure", "preview"])
        #expect(email["bodyStructure"]?["type"] == .string("text/plain"))
        #expect(email["preview"] == .string(""))
    }

    @Test(arguments: [
        (#""id":"x""#, ["id"]),
        (#""size":1,"blobId":"b","threadId":"t""#, ["size", "blobId", "threadId"]),
        (#""headers":[]"#, ["headers"]), (#""hasAttachment":true"#, ["hasAttachment"]),
        (#""keywords":{"a":false}"#, ["keywords"]), (#""keywords":{"(":true}"#, ["keywords"]),
        (#""receivedAt":"2024""#, ["receivedAt"]), (#""sentAt":"2024-01-02T03:04:05""#, ["sentAt"]),
        (#""sentAt":"2024-01-02T03:04:05+2:00""#, ["sentAt"]), (#""subject":1"#, ["subject"]),
        (#""from":[{"name":"x"}]"#, ["from"]), (#""from":{"email":"x@y"}"#, ["from"]),
        (#""to":[{"email":"x@y","z":1}]"#, ["to"]), (#""to":[{"email":"no address"}]"#, ["to"]),
        (#""subject":"a\nb""#, ["subject"]), (#""header:X-A":"a\r\nX-B: c""#, ["header:X-A"]),
        (#""subject":"a","header:Subject":" b""#, ["subject", "header:Subject"]),
        (#""header:X:asText":"a","header:x:all":["b"]"#, ["header:X:asText", "header:x:all"]),
        (#""header:From:asText":"a""#, ["header:From:asText"]),
        (#""header:Content-Type":" text/html""#, ["header:Content-Type"]),
        (#""header:MIME-Version":" 1.0""#, ["header:MIME-Version"]),
        (#""header:X:all":"a""#, ["header:X:all"]), (#""messageId":["a b"]"#, ["messageId"]),
        (#""header:X-L:asURLs":["<"]"#, ["header:X-L:asURLs"]),
        (#""textBody":{}"#, ["textBody"]), (#""textBody":[]"#, ["textBody"]),
        (#""textBody":[{"partId":"a"}]"#, ["textBody", "bodyValues"]),
        (#""textBody":[{"partId":"p"},{"partId":"p"}],VALUES"#, ["textBody"]),
        (#""textBody":[{"partId":"p","type":"text/html"}],VALUES"#, ["textBody"]),
        (#""htmlBody":[{"partId":"p","type":"text/plain"}],VALUES"#, ["htmlBody"]),
        (#""textBody":[{"partId":"p","charset":"utf-8"}],VALUES"#, ["textBody"]),
        (#""textBody":[{"partId":"p","size":1}],VALUES"#, ["textBody"]),
        (#""textBody":[{"partId":"p","blobId":"b"}],VALUES"#, ["textBody"]),
        (#""textBody":[{"partId":"p","headers":[]}],VALUES"#, ["textBody"]),
        (#""textBody":[{"partId":"p","from":[]}],VALUES"#, ["textBody"]),
        (#""attachments":[{"partId":"p","type":"a b"}],VALUES"#, ["attachments", "bodyValues"]),
        (
            #""attachments":[{"partId":"p","header:Content-Transfer-Encoding":" 8bit"}],VALUES"#,
            ["attachments", "bodyValues"]
        ),
        (#""attachments":[{"type":"text/plain"}]"#, ["attachments"]),
        (
            #""bodyStructure":{"partId":"p"},"textBody":[{"partId":"p"}],VALUES"#,
            ["bodyStructure", "textBody"]
        ),
        (
            #""bodyStructure":{"type":"multipart/mixed","partId":"p"},VALUES"#,
            ["bodyStructure", "bodyValues"]
        ),
        (#""bodyStructure":{"type":"text/plain","subParts":[]}"#, ["bodyStructure"]),
        (#""bodyStructure":{"type":"multipart/mixed","subParts":[]}"#, ["bodyStructure"]),
        (
            #""header:X":" a","bodyStructure":{"partId":"p","header:X":" b"},VALUES"#,
            ["header:X", "bodyStructure"]
        ),
        (#""bodyValues":{"p":{"value":1}}"#, ["bodyValues"]), (#""bodyValues":[]"#, ["bodyValues"]),
        (#""bodyValues":{"p":{"value":"x","isTruncated":true}}"#, ["bodyValues"]),
        (#""bodyValues":{"p":{"value":"x","isEncodingProblem":true}}"#, ["bodyValues"]),
    ])
    func anInvalidMessageIsNotCreated(_ members: String, _ properties: [String]) async throws {
        let result = try await ann.create(
            members.replacing("VALUES", with: #""bodyValues":{"p":{"value":"x"}}"#))
        #expect(result.created == nil)
        #expect(result.error?["type"] == .string("invalidProperties"))
        #expect(result.error?["properties"] == .strings(properties))
    }

    @Test(arguments: ["null", "[]", "{}", #"{"x":true}"#, #"{"INBOX":false}"#])
    func aMessageIsInAMailbox(_ mailboxes: String) async throws {
        let mailboxes = mailboxes.replacing("INBOX", with: ann.folder(.inbox))
        let (_, response) = try await ann.call(
            "Email/set", #"{"accountId":"ann","create":{"k":{"mailboxIds":\#(mailboxes)},"l":{}}}"#)
        #expect(response["notCreated"]?["k", "properties"] == .strings(["mailboxIds"]))
        #expect(response["notCreated"]?["l", "properties"] == .strings(["mailboxIds"]))
    }

    @Test func missingBlobsAreNamed() async throws {
        let result = try await ann.create(
            ##""attachments":[{"blobId":"x"},{"blobId":"#y"},{"blobId":"Bffff-1"}]"##)
        #expect(result.error?["type"] == .string("blobNotFound"))
        #expect(result.error?["notFound"] == .strings(["x", "#y", "Bffff-1"]))
    }

    @Test func theAttachmentsOfAMessageHaveALimit() async throws {
        var limits = MailLimits()
        limits.messageBytes = 7_800
        let ann = try MailSite(limits: limits).ann
        let limit = JMAPLimits(limits).maxSizeAttachmentsPerEmail
        let blob = try ann.upload(String(repeating: "x", count: limit))
        let fits = try await ann.create(#""attachments":[{"blobId":"\#(blob)"}]"#)
        // With its fields it is longer than a message may be.
        #expect(fits.error?["type"] == .string("tooLarge"))
        #expect(fits.error?["maxSize"] == .integer(7_800))
        let twice = try await ann.create(
            #""attachments":[{"blobId":"\#(blob)"},{"blobId":"\#(blob)"}]"#)
        #expect(twice.error?["type"] == .string("tooLarge"))
        #expect(twice.error?["maxSize"] == .integer(Int64(limit)))
    }

    @Test func partsOfOtherMessagesAndUploadsOfTheRequestAreAttached() async throws {
        let old = try ann.add("Content-Type: text/x-a\nContent-Transfer-Encoding: base64\n\nYWJj")
            .id
        let part = try await ann.get(old, ["bodyStructure"])["bodyStructure"]?["blobId"]?.string
        let responses = try await ann.responses(
            ##"["Blob/upload",{"accountId":"ann","create":{"u":{"data":[{"data:asBase64":"eHl6"}],"##
                + ##""type":"text/x-b; charset=utf-8"}}},"0"],"##
                + ##"["Email/set",{"accountId":"ann","create":{"k":{"mailboxIds":{"\##(ann.folder(.inbox))":true},"##
                + ##""attachments":[{"blobId":"#u"},{"blobId":"\##(part ?? "")"}]}}},"1"],"##
                + ##"["Email/get",{"accountId":"ann","ids":["#k"],"properties":["attachments"]},"2"]"##
        )
        let attachments = try #require(responses[2].value["list", "0", "attachments"])
        var reader = BlobReader(ann.mail)
        let blobs = attachments.array?.compactMap {
            $0["blobId"]?.string.flatMap { reader.blob($0) }
        }
        #expect(blobs?.map(\.type) == ["text/x-b", "text/x-a"])
        #expect(blobs?.map { String(decoding: $0.bytes, as: UTF8.self) } == ["xyz", "abc"])
    }
}
