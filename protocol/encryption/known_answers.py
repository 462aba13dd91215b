"""known_answers.py > known-answers.json: what docs/encryption.md describes, written a second time and by other means.

It needs the package `cryptography`. The tests compare what RTMClient makes with its output, byte by byte."""
import base64, json
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

LABEL = b"heliograph/1 "
MODES = {1: ("AES-128-GCM", 16), 2: ("AES-256-GCM", 32)}
KINDS = {"message": 1, "state": 2, "metadata": 3}
CHANNEL_TYPES = {"none": 0, "message": 1, "stream": 2, "user": 3}


def master_key(secret, salt, mode):
    return HKDF(SHA256(), 32, salt, LABEL + MODES[mode][0].encode()).derive(secret.encode())


def key_id(master):
    return HKDFExpand(SHA256(), 8, LABEL + b"key id").derive(master)


def sender_key(master, mode, sender, channel_type, channel):
    length = MODES[mode][1]
    info = LABEL + b"sender" + bytes([CHANNEL_TYPES[channel_type]]) + channel.encode()
    material = HKDF(SHA256(), length + 12, sender, info).derive(master)
    return material[:length], material[length:]


def named(text):
    return len(text.encode()).to_bytes(2, "big") + text.encode()


def seal(case):
    mode, sender, counter = case["mode"], bytes.fromhex(case["sender"]), case["counter"]
    master = master_key(case["secret"], bytes.fromhex(case["salt"]), mode)
    key, salt = sender_key(master, mode, sender, case["channelType"], case["channel"])
    nonce = bytes(a ^ b for a, b in zip(salt, counter.to_bytes(12, "big")))
    header = bytes([0xF9, mode | (0x10 if "data" in case else 0)]) + key_id(master) + sender + counter.to_bytes(4, "big")
    places = (case["appID"], case["channel"], case["publisher"], case["item"])
    additional = header + bytes([KINDS[case["kind"]], CHANNEL_TYPES[case["channelType"]]]) + b"".join(map(named, places))
    plain = bytes.fromhex(case["data"]) if "data" in case else case["text"].encode()
    sealed = header + AESGCM(key).encrypt(nonce, plain, additional)
    case.update(master=master.hex(), keyID=key_id(master).hex(), senderKey=key.hex(), nonceSalt=salt.hex(), nonce=nonce.hex(),
                additionalData=additional.hex(), sealed=sealed.hex())
    if case["kind"] == "state":
        case["value"] = base64.b64encode(sealed).decode()
    if case["kind"] == "metadata":
        author = case["publisher"].encode()
        case["value"] = base64.b64encode(bytes([len(author)]) + author + sealed).decode()
    return case


def case(kind, channel_type, channel, counter, mode=2, secret="correct horse battery staple", item="", publisher="alice", **content):
    return seal(dict(kind=kind, appID="demo", channelType=channel_type, channel=channel, publisher=publisher, item=item, mode=mode,
                     secret=secret, salt=bytes(range(32)).hex(), sender=bytes(range(0xA0, 0xB0)).hex(), counter=counter, **content))


CASES = [
    case("message", "message", "lobby", 0, text="hello"),
    case("message", "message", "lobby", 1, text="hello"),
    case("message", "message", "lobby", 0, mode=1, text="hello"),
    case("message", "message", "hall", 0, text="hello"),
    case("message", "message", "lobby", 0xFFFFFFFF, text=""),
    case("message", "message", "lobby", 0x01020304, data="00ff07", item="image"),
    case("message", "user", "bob", 7, text="psst 🎈", publisher="carol"),
    case("message", "message", "lobby", 2, secret="ä", text="x" * 128),
    case("state", "message", "lobby", 3, item="mood", text="good"),
    case("state", "message", "lobby", 4, item="mood", text="", mode=1),
    case("metadata", "message", "auction", 5, item="price", text="299"),
    case("metadata", "none", "alice", 6, item="name", text="Alice", publisher="bob"),
]
print(json.dumps({"cases": CASES}, indent=1, ensure_ascii=False))
