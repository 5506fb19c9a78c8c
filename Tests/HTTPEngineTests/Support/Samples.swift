/// Valid requests with every kind of framing.
let validRequests = [
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\nGET /after/an/empty/line HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /a%20b/%C3%A9?x=%41&y=1+2 HTTP/1.1\r\nHost: example.test:8080\r\nX-Empty:\r\n\r\n",
    "POST /p HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 5\r\n\r\nhello",
    "POST /p HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5\r\nhello\r\nA;x=\"y\"\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n",
    "GET http://example.test/abs?q HTTP/1.1\r\nHost: example.test\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    "GET /old HTTP/1.0\r\n\r\n",
    "GET /old HTTP/1.0\r\nConnection: Keep-Alive, x\r\n\r\n",
    "PUT /e HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\nok",
    "GET /t HTTP/1.1\r\nHost: a\r\nX: \t padded value \t\r\nY: caf\u{e9}\r\n\r\n",
]
