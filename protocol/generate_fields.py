#!/usr/bin/env python3
"""generate_fields.py DESCRIPTORS FOLDER: writes the fields of every message of the schema as Swift for Shared/Wire.

DESCRIPTORS is what `protoc --descriptor_set_out` writes. FOLDER gets one file for each file of the schema. For every message
there is an enum with a constant for each field: its number, and the type of value that may be written to it. So the
hand-written code in Wire can't write a field, a number or a type that the schema doesn't have."""
import pathlib, re, sys

# What is written to a field, by the numbers of FieldDescriptorProto.Type.
TYPES = {3: "Int64", 4: "UInt64", 8: "Bool", 9: "String", 12: "Bytes", 13: "UInt32", 14: "Enumeration"}
MESSAGE, WITH_LENGTH = 11, {9, 11, 12}
REPEATED = 3
KEYWORDS = {"as", "case", "default", "for", "if", "in", "internal", "is", "let", "public", "repeat", "return", "self", "var"}


def varint(data, place):
    value = shift = 0
    while True:
        byte = data[place]
        value, shift, place = value | (byte & 127) << shift, shift + 7, place + 1
        if byte < 128:
            return value, place


def decode(data):
    """A protobuf message as a dictionary: field number to the list of its values, nested messages as bytes."""
    fields, place = {}, 0
    while place < len(data):
        key, place = varint(data, place)
        value, place = varint(data, place)
        if key & 7 == 2:
            value, place = data[place:place + value], place + value
        fields.setdefault(key >> 3, []).append(value)
    return fields


def text(values):
    return values[0].decode() if values else ""


def swift_name(name):
    name = re.sub(r"_(\w)", lambda match: match.group(1).upper(), name)
    return f"`{name}`" if name in KEYWORDS else name


class Field:
    """One FieldDescriptorProto."""

    def __init__(self, data, message):
        field = decode(data)
        self.name, self.number, kind = swift_name(text(field[1])), field[3][0], field[5][0]
        is_repeated = field[4][0] == REPEATED
        # A repeated number would be packed.
        if kind not in {*TYPES, MESSAGE} or is_repeated and kind not in WITH_LENGTH:
            sys.exit(f"generate_fields.py: {message}.{self.name} has a type that Shared/Wire doesn't know")
        written = text(field[6]).rsplit(".", 1)[1] if kind == MESSAGE else TYPES[kind]
        self.written = f"[{written}]" if is_repeated else written

    def constant(self):
        return f"package static var {self.name}: SchemaField<{self.written}> {{ SchemaField({self.number}) }}"


class Message:
    """One DescriptorProto."""

    def __init__(self, data, package):
        message = decode(data)
        self.name = text(message[1])
        self.full_name = f"{package}.{self.name}"
        self.fields = [Field(field, self.full_name) for field in message.get(2, [])]

    def lines(self):
        if not self.fields:
            return [f"/// {self.full_name}", f"package enum {self.name} {{}}"]
        return [
            f"/// {self.full_name}", f"package enum {self.name} {{",
            *indented(field.constant() for field in self.fields), "}"
        ]


def indented(lines):
    return ["    " + line if line else line for line in lines]


def source(path, messages):
    lines = [f"// Written by protocol/generate_fields.py from {path}: `make generate`.", "", "extension Schema {"]
    for place, message in enumerate(messages):
        lines += ([""] if place else []) + indented(message.lines())
    return "\n".join(lines + ["}", ""])


def main(descriptors, folder):
    seen = set()
    for data in decode(pathlib.Path(descriptors).read_bytes())[1]:
        file = decode(data)
        path = text(file[1])
        messages = [Message(message, text(file[2])) for message in file.get(4, [])]
        for name in (message.name for message in messages):
            if name in seen:
                sys.exit(f"generate_fields.py: two messages of the schema are called {name}")
            seen.add(name)
        stem = "".join(word.capitalize() for word in pathlib.PurePath(path).stem.split("_"))
        (pathlib.Path(folder) / f"{stem}Schema.swift").write_text(source(path, messages))


main(*sys.argv[1:])
