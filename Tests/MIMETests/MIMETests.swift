import MIME
import Testing

@Suite struct MIMEErrorTests {
    @Test func aMissingLibraryIsReportedWithItsPackage() {
        let text = MIMEError.libraryMissing("cannot open").description
        #expect(text.utf8.count > 0 && text.contains("libgmime-3.0-0: ") == false)
        #expect(text.contains("libgmime-3.0-0") && text.contains("cannot open"))
    }
}
