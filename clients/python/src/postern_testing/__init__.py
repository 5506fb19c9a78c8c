"""Runs a Postern mail-auth server in a test suite.

    from postern_testing import Postern

    with Postern() as postern:
        agent = postern.create_agent()
        requests.post(postern.url + "/api/v1/capability",
                      headers={"Authorization": f"Bearer {agent.token}"})

With pytest, the fixture ``postern`` gives the server, emptied before each test.
"""

from .client import (
    Account, Agent, Attachment, Client, Clock, Event, Message, MessageTimeout, PosternError,
    SMTPAddress, Token, User)
from .server import Postern, PosternStartError

__all__ = [
    "Account", "Agent", "Attachment", "Client", "Clock", "Event", "Message", "MessageTimeout",
    "Postern", "PosternError", "PosternStartError", "SMTPAddress", "Token", "User",
]
