import Testing

@testable import AuthAPI

@Suite struct TextFindingsTests {
    @Test(arguments: [
        ("see https://a.test/b", ["https://a.test/b"]),
        ("https://a.test.", ["https://a.test"]),
        ("(https://a.test/x)", ["https://a.test/x"]),
        ("https://a.test/x_(y), z", ["https://a.test/x_(y)"]),
        ("[go](https://a.test/?b=[1])", ["https://a.test/?b=[1]"]),
        ("<https://a.test/?b=c&d=e#f>", ["https://a.test/?b=c&d=e#f"]),
        ("\"http://a.test:8080/\"!", ["http://a.test:8080/"]),
        ("*https://a.test/x*", ["https://a.test/x"]),
        ("HTTPS://A.test/ and https://a.test/", ["HTTPS://A.test/", "https://a.test/"]),
        ("https://b.test https://a.test https://b.test", ["https://b.test", "https://a.test"]),
        ("http://[::1]:80/", ["http://[::1]:80/"]),
        ("请访问https://a.test/x。谢谢", ["https://a.test/x"]),
        ("https://a.test\nhttps://b.test\r\n", ["https://a.test", "https://b.test"]),
        ("https:// https://, xhttps://a.test ftp://a.test mailto:a@b.test http:/a.test", []),
        ("", []), ("h", []), ("https://", []),
    ])
    func linksAreURLsWithoutThePunctuationOfTheSentence(text: String, links: [String]) {
        #expect(TextFindings(text).links == links)
    }

    @Test(arguments: [
        ("123456", ["123456"]), ("Your code is 123456.", ["123456"]), ("code:123456,", ["123456"]),
        ("验证码123456。", ["123456"]), ("(123456)", ["123456"]),
        ("654321 123456 654321", ["654321", "123456"]),
        ("12345 1234567", []), ("a123456 123456b _123456", []), ("1.123456 123456.78 1,123456", []),
        ("12-123456 123456-7 10:123456", []), ("#123456 $123456 123456%", []),
        ("https://a.test/123456?c=654321 /123456", []), ("１２３４５６", []), ("", []),
    ])
    func codesAreNumbersOfSixDigitsThatStandAlone(text: String, codes: [String]) {
        #expect(TextFindings(text).codes == codes)
    }

    @Test func whatIsInTheTextAndInTheHTMLIsFoundOnce() {
        var findings = TextFindings("https://a.test 123456")
        findings.add(
            links: [
                "https://a.test", "mailto:a@b.test", "#top", "https://b.test/a b", "/relative",
            ],
            codesOf: "123456 https://c.test 654321")
        #expect(findings.links == ["https://a.test", "https://b.test/a b"])
        #expect(findings.codes == ["123456", "654321"])
    }
}
