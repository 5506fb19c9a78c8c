"""Asks the server at 127.0.0.1:8080 from four threads, each time on a new connection, until standard input ends. Prints a
line for each answer: its status, or what went wrong.
"""

import http.client
import os
import sys
import threading


def ask():
    client = http.client.HTTPConnection("127.0.0.1", 8080, timeout=60)
    try:
        client.request("GET", "/healthz")
        answer = client.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException) as error:
        return repr(error)
    finally:
        client.close()


def load(ends):
    while not ends.is_set():
        os.write(1, f"{ask()}\n".encode())


def main():
    ends = threading.Event()
    threads = [threading.Thread(target=load, args=[ends]) for _ in range(4)]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    ends.set()
    for thread in threads:
        thread.join()


main()
