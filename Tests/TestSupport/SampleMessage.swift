/// The sources of messages, with LF.
public enum SampleMessage {
    public static let text = """
        From: Bob Example <bob@example.com>
        To: demo@mail.test
        Subject: Your code

        It is 123456.

        """

    public static let withAttachments = """
        From: bob@example.com
        Subject: Parts
        MIME-Version: 1.0
        Content-Type: multipart/mixed; boundary=outer

        --outer
        Content-Type: multipart/alternative; boundary=inner

        --inner
        Content-Type: text/plain; charset=utf-8

        plain
        --inner
        Content-Type: text/html; charset=utf-8

        <p>html</p>
        --inner--
        --outer
        Content-Type: image/png
        Content-Disposition: attachment; filename*=utf-8''%2e%2e%2fbild%20%c3%a4.png
        Content-Transfer-Encoding: base64

        iVBORw0KGgo=
        --outer
        Content-Type: text/html
        Content-Disposition: attachment; filename="page.html"

        <script>alert(1)</script>
        --outer--

        """
}
