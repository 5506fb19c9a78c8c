import MIME
import Testing

@Suite struct HeaderFieldTests {
    /// RFC 2047 §8, and what senders write.
    @Test(arguments: [
        ("=?ISO-8859-1?Q?a?=", "a"), ("=?ISO-8859-1?Q?a?= b", "a b"),
        ("=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=", "ab"),
        ("=?ISO-8859-1?Q?a?=  =?ISO-8859-1?Q?b?=", "ab"),
        ("=?ISO-8859-1?Q?a?=\r\n    =?ISO-8859-1?Q?b?=", "ab"),
        ("=?ISO-8859-1?Q?a_b?=", "a b"), ("=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=", "a b"),
        ("=?US-ASCII?Q?Keith_Moore?=", "Keith Moore"),
        ("=?ISO-8859-1?Q?Keld_J=F8rn_Simonsen?=", "Keld Jørn Simonsen"),
        ("=?ISO-8859-1?Q?Andr=E9?= Pirard", "André Pirard"),
        (
            "=?ISO-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?=\r\n =?ISO-8859-2?B?dSB1bmRlcnN0YW5kIHRoZSBleGFtcGxlLg==?=",
            "If you can read this you understand the example."
        ),
        ("=?iso-8859-8?b?7eXs+SDv4SDs6Oj08A==?=", "םולש ןב לטטפנ"),
        ("=?UTF-8?B?4pyT?=", "✓"), ("=?utf-8*en?Q?x?=", "x"), ("=?utf-8?q?a", "=?utf-8?q?a"),
        ("  leading and trailing ", "leading and trailing "), ("a\r\n b\r\n\tc", "a b\tc"),
        ("Grüße ✓", "Grüße ✓"), ("", ""), ("=?utf-8?Q?a=0D=0Ab=1Bc?=", "abc"),
        ("=?utf-8?B?w6k=?= =?utf-8?B?w6k=?=", "éé"),
        ("=?utf-8?B?YQ==?= x =?utf-8?b?Yg==?= =?UTF-8?Q?c?=", "a x bc"), ("=?utf-8?B?YQ==?=", "a"),
        ("=?iso-2022-jp?B?GyRCMnE1RBsoQg==?= =?iso-2022-jp?B?GyRCMnE1RBsoQg==?=", "会議会議"),
        ("=?utf-8?B?4pw=?= =?utf-8?B?kw==?=", "✓"),
        // One character in two words.
        ("=?utf-8?Q?=E2=9C?= =?utf-8?Q?=93?=", "✓"),
    ])
    func encodedWordsAreDecoded(value: String, text: String) throws {
        #expect(try field(value).text == text)
    }

    @Test func bytesThatAreNotUTF8AreTakenForWindows1252() throws {
        #expect(try field([0x63, 0x61, 0x66, 0xE9, 0x80]).text == "café€")
    }

    @Test func aWordOfAnUnknownCharsetIsStillShown() throws {
        let text = try field("=?x-unknown?Q?caf=E9?= open").text
        #expect(text.contains("caf") && text.contains("open"))
    }

    @Test func theRawFormIsExact() throws {
        #expect(try field(" a\r\n\t b ").rawBytes == Array(" a\r\n\t b ".utf8))
        #expect(try field([0x20, 0xFF]).raw == " \u{FFFD}")
    }

    /// RFC 5322 appendix A, and what senders write.
    @Test(arguments: [
        ("Fri, 21 Nov 1997 09:55:06 -0600", "1997-11-21T09:55:06-06:00"),
        ("Tue, 1 Jul 2003 10:52:37 +0200", "2003-07-01T10:52:37+02:00"),
        (
            "Thu,\r\n 13\r\n Feb\r\n  1969\r\n 23:32\r\n -0330 (Newfoundland Time)",
            "1969-02-13T23:32:00-03:30"
        ),
        ("21 Nov 97 09:55:06 GMT", "1997-11-21T09:55:06+00:00"),
        ("21 Nov 97 09:55 EST", "1997-11-21T09:55:00-05:00"),
        ("Fri, 21 Nov 1997 09:55:06 -0000", "1997-11-21T09:55:06+00:00"),
        ("Fri, 31 Dec 9999 00:00:00 +0000", nil), ("yesterday", nil), ("", nil),
        ("Mon, 31 Feb 2023 25:61:61 +9999", nil), ("1 Jan 99999 00:00:00 +0000", nil),
    ])
    func datesKeepTheirOffset(value: String, rfc3339: String?) throws {
        #expect(try field(value).date?.rfc3339() == rfc3339)
    }

    @Test func aDateIsAnInstant() throws {
        let date = try field("Fri, 21 Nov 1997 09:55:06 -0600").date
        #expect(date == MessageDate(seconds: 880_127_706, offsetMinutes: -360))
    }

    @Test(arguments: [
        (Int64(253_402_214_399), 0, true), (253_402_214_400, 0, false),
        (-2_208_902_400, 0, true), (-2_208_902_401, 0, false), (0, 1_439, true), (0, 1_440, false),
        (0, -1_440, false), (Int64.max, 0, false), (Int64.min, 0, false),
    ])
    func onlyDatesWithFourDigitsExist(seconds: Int64, offset: Int, exists: Bool) throws {
        let date = MessageDate(seconds: seconds, offsetMinutes: offset)
        #expect((date != nil) == exists)
        if let date { #expect(try date.rfc3339().utf8.count == 25) }
    }

    @Test(arguments: [
        ("<a@b>", ["a@b"]), ("<a@b> <c@d>", ["a@b", "c@d"]), ("<a@b>,<c@d>", ["a@b", "c@d"]),
        ("(x) <a@b>\r\n\t<c@d>", ["a@b", "c@d"]), ("<a@b", ["a@b"]), ("garbage", nil), ("<>", nil),
        ("", nil), ("<\"a,b\"@[192.0.2.1]>", ["\"a,b\"@[192.0.2.1]"]),
    ])
    func messageIdsAreWithoutBrackets(value: String, ids: [String]?) throws {
        #expect(try field(value).messageIds == ids)
    }

    /// RFC 2369 §3, and RFC 8621 §4.1.2.7.
    @Test(arguments: [
        (
            "<ftp://ftp.host.com/list.txt> (FTP),\r\n <mailto:list@host.com?subject=help>",
            ["ftp://ftp.host.com/list.txt", "mailto:list@host.com?subject=help"]
        ),
        (
            "<mailto:list@host.com?subject=help> (List (<no:1>) Instructions)",
            ["mailto:list@host.com?subject=help"]
        ),
        ("NO (posting not allowed)", nil), ("<>", nil), ("", nil),
        ("<http://a/\r\n b>", ["http://a/b"]),
        ("<http://a/(b)>", ["http://a/(b)"]), ("<unclosed", nil),
    ])
    func urlsAreWithoutCommentsAndBrackets(value: String, urls: [String]?) throws {
        #expect(try field(value).urls == urls)
    }
}
