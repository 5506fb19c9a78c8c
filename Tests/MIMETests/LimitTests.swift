import MIME
import Testing

@Suite struct LimitTests {
    private func nested(_ depth: Int, inner: String) -> String {
        (0..<depth).map { "Content-Type: multipart/mixed; boundary=b\($0).\n\n--b\($0).\n" }
            .joined()
            + inner
    }

    @Test func multipartsAreNestedSixtyFourTimes() throws {
        let fits = try message(nested(64, inner: "\nhello"))
        #expect(fits.root.all.count == 65 && fits.preview == "hello")
        let deeper = try message(nested(65, inner: "\nhello\n--b64.--\n--b0.\n\nlast\n--b0.--"))
        let parts = deeper.root.all
        #expect(parts.count == 66)
        #expect(parts[64].type == "application/octet-stream" && parts[64].subParts == nil)
        #expect(
            String(decoding: deeper.content(of: parts[64]), as: UTF8.self)
                == "--b64.\r\n\r\nhello\r\n--b64.--")
        #expect(deeper.preview == "last")
    }

    @Test func aMessageHasAThousandParts() throws {
        let type = "Content-Type: multipart/mixed; boundary=b\n\n"
        let fits = try message(type + String(repeating: "--b\n\nx\n", count: 999) + "--b--\n")
        #expect(fits.root.subParts?.count == 999)
        #expect(fits.root.subParts?.last?.type == "application/octet-stream")
        let more = try message(type + String(repeating: "--b\n\nx\n", count: 1_001) + "--b--\n")
        let parts = try #require(more.root.subParts)
        #expect(parts.count == 999)
        #expect(parts[997].type == "text/plain" && more.text(of: parts[997]).text == "x")
        #expect(parts[998].type == "application/octet-stream" && parts[998].partId == "999")
        #expect(
            String(decoding: more.content(of: parts[998]), as: UTF8.self)
                == String(decoding: crlf("\nx\n--b\n\nx\n--b\n\nx\n--b--\n"), as: UTF8.self))
    }

    @Test func theBytesAfterTheLimitAreNotRead() throws {
        #expect(MIMELimits.standard.messageBytes == 10 * 1_024 * 1_024)
        var limits = MIMELimits()
        limits.messageBytes = 1_000
        let bytes = crlf("A: 1\n\n") + [UInt8](repeating: 0x78, count: 992)
        let fits = try ParsedMessage(bytes, limits: limits)
        #expect(!fits.isTruncated && fits.root.size == 992)
        let longer = try ParsedMessage(bytes + [0x79], limits: limits)
        #expect(longer.isTruncated && longer.root.size == 992)
        #expect(longer.header.fields.count == 1)
    }

    /// GMime calls itself for each level, and overflows a small stack.
    @Test(arguments: [
        "Content-Type: multipart/mixed; boundary=b#\r\n\r\n--b#\r\n",
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n",
        "Content-Type: message/rfc822\r\n\r\n",
        "Content-Type: multipart/digest; boundary=b#\r\n\r\n--b#\r\n\r\n",
    ])
    func tenThousandLevelsAreRead(level: String) throws {
        let text = (0..<10_000).map { level.replacing("#", with: "\($0)") }.joined()
        let message = try ParsedMessage(Array(text.utf8))
        #expect(message.root.all.count <= 1_000)
        #expect(message.root.all.map { $0.contentRange.count }.reduce(0, +) <= text.utf8.count)
    }

    @Test func linesThatLookLikeBoundariesDoNotTakeLong() throws {
        let same = String(repeating: "x", count: 66)
        let open = (0..<64).map {
            "Content-Type: multipart/mixed; boundary=\"\(same)\($0)\"\n\n--\(same)\($0)\n"
        }.joined()
        for line in ["--\n", "--\(same)\n", "\n", "--\(same)zz\n"] {
            let count = 100_000 / line.utf8.count
            let message = try ParsedMessage(
                Array((open + String(repeating: line, count: count)).utf8))
            #expect(message.root.all.count == 65)
        }
    }
}
