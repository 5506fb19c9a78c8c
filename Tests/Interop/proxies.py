"""The real reverse proxies, configured by the examples in deploy/."""

import re
import socket
import subprocess

from program import ROOT

DEPLOY = ROOT / "deploy"
SEARCH_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def substituted(name, **changes):
    """The example with each pattern replaced; one that it does not have fails the test."""
    text = (DEPLOY / name).read_text()
    for pattern, replacement in changes.values():
        text, count = re.subn(pattern, lambda _: replacement, text)
        assert count, f"{name} has no {pattern}"
    return text


class Proxy:
    """A running proxy; `settings` are what Postern needs for it. Ends by its process id."""

    def __init__(self, directory, certificate, upstream):
        self.port = free_port()
        self.log = directory / "proxy.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command(directory, certificate, upstream), cwd=directory, stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, env=self.environment(directory, upstream))

    settings = {}

    def environment(self, directory, upstream):
        return {"PATH": SEARCH_PATH, "HOME": str(directory)}

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


class Nginx(Proxy):
    program = "nginx"
    example = "nginx.conf"
    # More words of its listening directive.
    listens = ""

    def upstream_changes(self, upstream):
        return {"upstream": (r"127\.0\.0\.1:8080", f"127.0.0.1:{upstream}")}

    def command(self, directory, certificate, upstream):
        site = substituted(
            self.example, **self.upstream_changes(upstream),
            listen=(r"listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl{self.listens}"),
            listen6=(r"listen \[::\]:443", f"listen [::1]:{self.port}"),
            certificate=(r"/etc/ssl/certs/\S+(?=;)", str(certificate)),
            key=(r"/etc/ssl/private/\S+(?=;)", str(certificate)))
        (directory / "site.conf").write_text(site)
        temporary = "".join(
            f"{kind}_temp_path {directory}/{kind};\n"
            for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        (directory / "nginx.conf").write_text(
            f"pid {directory}/nginx.pid;\nerror_log stderr;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{self.more}{temporary}include {directory}/site.conf;\n}}\n")
        return ["nginx", "-p", str(directory), "-c", str(directory / "nginx.conf"),
                "-g", "daemon off;"]

    more = ""


class HAProxy(Proxy):
    program = "haproxy"
    example = "haproxy.cfg"
    listens = ""

    def upstream_changes(self, upstream):
        return {"upstream": (r"127\.0\.0\.1:8080", f"127.0.0.1:{upstream}")}

    def command(self, directory, certificate, upstream):
        (directory / "haproxy.cfg").write_text(substituted(
            self.example, **self.upstream_changes(upstream),
            listen=(r"bind :443", f"bind 127.0.0.1:{self.port}{self.listens}"),
            certificate=(r"/etc/haproxy/\S+\.pem", str(certificate))))
        return ["haproxy", "-db", "-f", str(directory / "haproxy.cfg")]


class NodesNginx(Nginx):
    """In front of the servers on the ports that `upstream` lists. Clients may state any address of
    their own, by PROXY protocol."""

    example = "nginx-nodes.conf"
    listens = " proxy_protocol"
    more = "set_real_ip_from 127.0.0.1;\nreal_ip_header proxy_protocol;\n"

    def upstream_changes(self, upstream):
        return {str(number): (rf"127\.0\.0\.1:808{number}\b", f"127.0.0.1:{port}")
                for number, port in enumerate(upstream, 1)}


class NodesHAProxy(HAProxy):
    """As `NodesNginx`, but for the addresses of clients."""

    example = "haproxy-nodes.cfg"

    def upstream_changes(self, upstream):
        return {}

    def environment(self, directory, upstream):
        nodes = {f"POSTERN_NODE{number}": f"127.0.0.1:{port}"
                 for number, port in enumerate(upstream, 1)}
        return {**super().environment(directory, upstream), **nodes}


class NodesHAProxyWithAddresses(NodesHAProxy):
    listens = " accept-proxy"
