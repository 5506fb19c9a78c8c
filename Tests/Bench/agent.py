"""Requests of agents that need no hash and no signature key, beside nginx."""

from processes import Nginx
from table import Row

# The difficulty does not rise, because the server is measured and not the solving of proofs.
EASY = {"POW_AGENT_DIFFICULTY": "1", "POW_AGENT_MAX_DIFFICULTY": "1"}


class Agent:
    def __init__(self, run):
        self.run = run

    def rows(self):
        with self.run.postern(**EASY) as server, Nginx(self.run.fresh()) as nginx:
            health, challenge, bare, logged = self.run.turns(
                lambda: self.run.cpu_micros(server, "/healthz"),
                lambda: self.run.cpu_micros(server, "/api/v1/challenge", method="POST"),
                lambda: self.run.cpu_micros(nginx, "/healthz"),
                lambda: self.run.cpu_micros(nginx, "/logged"))
        constant = "nginx return 200, no access log"
        yield Row("GET /healthz, CPU", "µs", health, bare, constant, 1.8)
        yield Row("", "µs", health, logged, "nginx return 200, access log", 1.8)
        yield Row("POST /api/v1/challenge, CPU", "µs", challenge, bare, constant, 3.2)
