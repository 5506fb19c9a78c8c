"""A server that no browser should connect to before its user asks for it."""

import http.server
import threading


class _Handler(http.server.BaseHTTPRequestHandler):
    def setup(self):
        self.server.tracker.connections.append(self.client_address)
        super().setup()

    def do_GET(self):
        self.server.tracker.requests.append((self.path, self.headers.get("Referer")))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>Elsewhere</title>")

    do_POST = do_GET

    def log_message(self, *arguments):
        pass


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A browser may close a connection at any time."""


class Tracker:
    """Counts connections and requests, by http and, with a certificate, by https."""

    def __init__(self, context):
        self.connections, self.requests, self._servers = [], [], []
        self.http = self._serve(None)
        self.https = self._serve(context)

    def _serve(self, context):
        server = _Server(("127.0.0.1", 0), _Handler)
        server.tracker = self
        if context:
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self._servers.append(server)
        return server.server_address[1]

    def close(self):
        for server in self._servers:
            server.shutdown()
            server.server_close()
