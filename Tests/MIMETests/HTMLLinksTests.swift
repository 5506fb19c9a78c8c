import MIME
import Testing

@Suite struct HTMLLinksTests {
    @Test(arguments: [
        (#"<a href="https://a.test/">x</a>"#, ["https://a.test/"]),
        (#"<A class='b' HREF='x y' id=c>"#, ["x y"]),
        ("<a href=https://a.test/b?c=d>", ["https://a.test/b?c=d"]),
        ("<a\n href = \"x\"\n>", ["x"]),
        (#"<a href="?a=1&amp;b=2&#38;c=3&copy=4&reg=5">"#, ["?a=1&b=2&c=3&copy=4&reg=5"]),
        (#"<area shape=rect href="x"><link href="y"><base href="z">"#, ["x"]),
        (#"<a title="<a href='no'>" href="yes" href="no">"#, ["yes"]),
        (#"<a data-href="no"><a xhref=no><abbr href=no>"#, []),
        (#"<!-- <a href="no"> --><a href="yes">"#, ["yes"]),
        (#"1 < 2 <a href="yes"> a<b"#, ["yes"]),
        (#"<a href><a href=><a =href="no">"#, [""]),
        ("<a href=\"x", ["x"]), ("<a href=", [""]), ("<a", []), ("<", []), ("<!--", []), ("", []),
    ])
    func theAddressesOfLinksAreFoundInTheirOrder(html: String, links: [String]) {
        #expect(HTMLLinks.all(in: html) == links)
    }

    @Test func everyBeginningOfHTMLIsRead() {
        let html = Array(
            #"<!-- x --><a b='c' href="https://a.test/&amp;">x</a><area href=y/>"#.utf8)
        for count in 0...html.count {
            let links = HTMLLinks.all(in: String(decoding: html[..<count], as: UTF8.self))
            #expect(links.count <= 2)
        }
    }
}
