"""Runs a Postern mail-auth server in a test suite.

    from postern_testing import Postern

    with Postern() as postern:
        agent = postern.create_agent()
        requests.post(postern.url + "/api/v1/capability",
                      headers={"Authorization": f"Bearer {agent.token}"})

With pytest, the fixture ``postern`` gives the server, emptied before each test.
"""

from .client import Account, Agent, Client, Clock, Event, PosternError, Token, User
from .server import Postern, PosternStartError

__all__ = [
    "Account", "Agent", "Client", "Clock", "Event", "Postern", "PosternError", "PosternStartError",
    "Token", "User",
]
