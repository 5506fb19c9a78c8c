"""`mail.subject = "local_part"`: one name at the mail store is one mailbox."""

import pytest

from agent import Agent, bearer
from program import run

SUBJECT = {"POSTERN_MAIL_SUBJECT": "local_part"}


def test_another_first_domain_stops_the_start_while_agents_have_accounts(start, tmp_path, name):
    data = ["--data", str(tmp_path / "data")]
    old = start(*data, POSTERN_MAIL_DOMAINS="old.test", **SUBJECT)
    made = Agent(old.url).session(username=name())
    assert made.status_code == 201
    old.stop()
    stopped = run("serve", "--profile", "test", "--port", "0", *data, directory=tmp_path,
                  POSTERN_MAIL_DOMAINS="new.test,old.test", **SUBJECT)
    assert stopped.returncode == 78
    assert "agents have accounts on old.test" in stopped.stderr
    assert "first of mail.domains is new.test" in stopped.stderr
    # With another subject it starts, and the account still gets capabilities.
    other = start(*data, POSTERN_MAIL_DOMAINS="new.test,old.test")
    opened = Agent(other.url).session(apiKey=made.json()["apiKey"])
    session = opened.headers["Authorization"].removeprefix("Bearer ")
    assert Agent(other.url).post("/api/v1/capability", session).status_code == 200
    other.stop()
    assert start(*data, POSTERN_MAIL_DOMAINS="old.test,new.test", **SUBJECT).running
