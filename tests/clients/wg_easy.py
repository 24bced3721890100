"""The simulated wg-easy, and what its own API says about it."""

import base64
import json
import subprocess
import urllib.request


class WgEasy:
    """A simulator with five clients, of its own."""

    def __init__(self, simulator):
        self.process = subprocess.Popen([simulator], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url, self.username, self.password = (self.process.stdout.readline().split()[-1] for _ in range(3))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # It ends when its input does.
        self.process.communicate()

    @property
    def environment(self):
        """What the server has to be told."""
        return {"WG_EASY_URL": self.url, "WG_EASY_USERNAME": self.username, "WG_EASY_PASSWORD": self.password}

    def clients(self):
        """The clients there are, by id."""
        login = base64.b64encode(f"{self.username}:{self.password}".encode()).decode()
        request = urllib.request.Request(f"{self.url}/api/client", headers={"Authorization": f"Basic {login}"})
        with urllib.request.urlopen(request) as answer:
            return {client["id"]: client for client in json.load(answer)}

    def fetch(self, path):
        """What anybody gets who has a link."""
        with urllib.request.urlopen(self.url + path) as answer:
            return answer.read().decode()
