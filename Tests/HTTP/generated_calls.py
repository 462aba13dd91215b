"""usage: Tests/HTTP/generated_calls.py URL KEY

Uses the client that Tests/HTTP/run.sh has generated, in the module `generated`: every module of it is imported, and a
few calls are made whose answers, the refusals included, have to become what the document says.
"""

import importlib
import pkgutil
import sys
import uuid

import generated
from generated import AuthenticatedClient, Client
from generated.api.gateway import health
from generated.api.lists import channels
from generated.api.messages import batch, history, publish
from generated.api.moderation import ban, bans, unban
from generated.models import Batch, Failure, Message, Reason, Term

url, key = sys.argv[1:]
names = [module.name for module in pkgutil.walk_packages(generated.__path__, "generated.")]
for name in names:
    importlib.import_module(name)

assert health.sync(client=Client(url)).ready
client = AuthenticatedClient(url, key)
channel = f"generated-{uuid.uuid4()}"
once = str(uuid.uuid4())
message = Message(channel=channel, message="hello", store=True)
first = publish.sync("dev", client=client, body=message, idempotency_key=once)
again = publish.sync("dev", client=client, body=message, idempotency_key=once)
assert again.replayed and not first.replayed and again.offset == first.offset, (first, again)

outcomes = batch.sync("dev", client=client, body=Batch([message, Message(user="nobody", message="hello")]))
assert outcomes.results[0].offset > first.offset, outcomes
assert outcomes.results[1].error.name == "channelReceiverOffline", outcomes
page = history.sync("dev", client=client, channel=channel)
assert [stored.message for stored in page.messages] == ["hello", "hello"], page
assert channel in [row.channel for row in channels.sync("dev", client=client, prefix="generated-").channels]

refused = publish.sync("dev", client=AuthenticatedClient(url, "rtmk_none"), body=message)
assert isinstance(refused, Failure) and refused.error.name == "unknownKey", refused
assert ban.sync("dev", "ben", client=client, body=Term(forever=True)).forever
assert [row.user for row in bans.sync("dev", client=client).bans] == ["ben"]
assert unban.sync("dev", "ben", client=client, body=Reason()).is_durable
print(f"generated client: {len(names)} modules are imported, and its calls have the answers of the document")
