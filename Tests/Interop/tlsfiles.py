"""Certificates that openssl makes for a test, and servers that use them."""

import json
import socket
import ssl
import subprocess

from program import Postern


def openssl(*arguments, directory, stdin=""):
    subprocess.run(["openssl", *map(str, arguments)], cwd=directory, input=stdin, text=True,
                   check=True, capture_output=True)


class Authority:
    """A certificate authority in a directory; `file` is its certificate."""

    def __init__(self, directory):
        directory.mkdir(exist_ok=True)
        self.directory, self.file = directory, directory / "ca.pem"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-days", "300", "-subj", "/CN=Authority of the tests", "-keyout", "ca.key", "-out",
                "ca.pem", directory=directory)

    def issue(self, name, names=None, days=90, usage="serverAuth", key="ec"):
        """Writes name.pem and name.key, which replace those of before; returns their paths."""
        new = (["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"] if key == "ec"
               else ["-newkey", key])
        names = names or [f"DNS:{name}"]
        (self.directory / f"{name}.ext").write_text(
            f"subjectAltName={','.join(names)}\nextendedKeyUsage={usage}\n"
            "basicConstraints=critical,CA:false\n")
        openssl("req", *new, "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key.new",
                "-out", f"{name}.csr", directory=self.directory)
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-CAcreateserial", "-days", str(days), "-extfile", f"{name}.ext", "-out",
                f"{name}.pem.new", directory=self.directory)
        for suffix in ["key", "pem"]:
            (self.directory / f"{name}.{suffix}.new").replace(self.directory / f"{name}.{suffix}")
        return self.directory / f"{name}.pem", self.directory / f"{name}.key"

    def context(self, **options):
        """What a client of its servers needs."""
        context = ssl.create_default_context(cafile=str(self.file))
        for name, value in options.items():
            setattr(context, name, value)
        return context

    def staple(self, name, path):
        """Writes an OCSP response that says that the certificate is good."""
        serial = subprocess.run(
            ["openssl", "x509", "-in", f"{name}.pem", "-noout", "-serial"], cwd=self.directory,
            text=True, check=True, capture_output=True).stdout.strip().partition("=")[2]
        (self.directory / "index.txt").write_text(
            f"V\t491231235959Z\t\t{serial}\tunknown\t/CN={name}\n")
        openssl("ocsp", "-issuer", "ca.pem", "-cert", f"{name}.pem", "-reqout", "request.der",
                directory=self.directory)
        openssl("ocsp", "-index", "index.txt", "-CA", "ca.pem", "-rsigner", "ca.pem", "-rkey",
                "ca.key", "-ndays", "5", "-reqin", "request.der", "-respout", path,
                directory=self.directory)


def settings(listeners, certificates=(), **tls):
    """The text of a configuration file. A listener is its table, a certificate its two or three
    files."""
    lines = ["[tls]"] + [f"{key} = {json.dumps(str(value))}" for key, value in tls.items()]
    tables = [
        "{ " + ", ".join(f"{key} = {json.dumps(str(path))}" for key, path in zip(
            ["certificate", "key", "ocsp"], files)) + " }" for files in certificates]
    lines.append(f"certificates = [{', '.join(tables)}]")
    for listener in listeners:
        lines.append("[[server.listeners]]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in listener.items()]
    return "\n".join(lines) + "\n"


def tls_listener(**more):
    return {"address": "127.0.0.1:0", "tls": True, **more}


class TLSPostern(Postern):
    """A server with the settings of a file; `ports` has those of its listeners by name."""

    def __init__(self, directory, text, *flags, **settings):
        file = directory / "postern.toml"
        file.write_text(text)
        super().__init__(directory, "--config", str(file), *flags, port=None, **settings)

    def ports(self):
        for line in map(json.loads, self.read_log().splitlines()):
            if line["message"] == "started":
                return {name: int(text.rpartition(":")[2]) for name, text in line.items()
                        if name in ("services", "redirect", "public_2")}
        return None


def connect(port, context, name="a.test", timeout=30):
    plain = socket.create_connection(("127.0.0.1", port), timeout)
    try:
        return context.wrap_socket(plain, server_hostname=name)
    except BaseException:
        plain.close()
        raise
