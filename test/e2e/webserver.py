# SPDX-License-Identifier: Apache-2.0
"""A web server for tests: webserver.py FOLDER [BYTES_A_SECOND] prints its port.

Knows ranges, ETags (of size and time) and bearer-free reading; writes one line a request to
FOLDER/../requests: METHOD PATH RANGE.  While FOLDER/../stall exists, bodies stop after their
first half and wait.
"""
import http.server
import os
import re
import socketserver
import sys
import time

folder = os.path.abspath(sys.argv[1])
rate = int(sys.argv[2]) if len(sys.argv) > 2 else 0
beside = os.path.dirname(folder)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, body):
        asked = self.headers.get("Range", "-")
        with open(os.path.join(beside, "requests"), "a") as out:
            out.write(f"{self.command} {self.path} {asked}\n")
        path = os.path.realpath(os.path.join(folder, self.path.split("?")[0].lstrip("/")))
        if not path.startswith(folder + "/") or not os.path.isfile(path):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        st = os.stat(path)
        first, last = 0, st.st_size - 1
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", asked)
        if found:
            first = int(found.group(1))
            last = min(last, int(found.group(2))) if found.group(2) else last
        self.send_response(206 if found else 200)
        self.send_header("ETag", f'"{st.st_size}-{st.st_mtime_ns}"')
        self.send_header("Content-Length", str(last - first + 1))
        if found:
            self.send_header("Content-Range", f"bytes {first}-{last}/{st.st_size}")
        self.end_headers()
        if body:
            self.send(path, first, last + 1)

    def send(self, path, at, end):
        half = (at + end) // 2
        with open(path, "rb") as f:
            f.seek(at)
            while at < end:
                piece = f.read(min(65536, end - at))
                self.wfile.write(piece)
                at += len(piece)
                if rate:
                    time.sleep(len(piece) / rate)
                while at >= half and os.path.exists(os.path.join(beside, "stall")):
                    time.sleep(0.05)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, *args):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
