#!/usr/bin/env python3
"""generate_wire.py DESCRIPTORS FOLDER: writes the messages of the schema as Swift for Shared/Wire.

DESCRIPTORS is what `protoc --include_source_info --descriptor_set_out` writes. FOLDER gets one file for each file of the
schema. For every message there is an enum with a constant for each field: its number, and the type of value that may be
written to it. Unless the message is written by hand (wire_messages.HAND_WRITTEN), there is a struct, too, with its
properties, an initialiser, what writes it, and what reads it. The rules are:

- `user_id` becomes `userID`; a `uint32` `wait_ms` becomes `wait: Duration`, a `uint64` `time_ms` `timeMilliseconds: UInt64`,
  and `wait_s` `waitSeconds`; `bytes` are a view (`WireText`).
- A type and a name of a channel at the start of a message that a server sends to a client become one `channel: ChannelKey`.
- A parameter of the initialiser has the field's default value in proto3. Only messages and enums have none.
- A service reads its messages with the C codec, or with a scan (wire_messages.SCANNED). What only a client reads is not read.
- A method of a service is a constant with the types of its messages, which its comment in the schema names: `request A,
  response B`, `request A, answered without content`, or `push A`.
- The comments of the schema become documentation.

Exceptions stand in wire_messages.py."""
import pathlib, re, sys, textwrap
import wire_messages as exceptions

# What is written to a field, by the numbers of FieldDescriptorProto.Type.
TYPES = {3: "Int64", 4: "UInt64", 8: "Bool", 9: "String", 12: "Bytes", 13: "UInt32", 14: "Enumeration"}
MESSAGE, ENUM, WITH_LENGTH = 11, 14, {9, 11, 12}
REPEATED = 3
KEYWORDS = {"as", "case", "default", "for", "if", "in", "internal", "is", "let", "public", "repeat", "return", "self", "var"}
DEFAULTS = {
    "Int64": "0", "UInt64": "0", "UInt32": "0", "Int": "0", "Bool": "false", "String": '""', "WireText": ".empty",
    "[UInt8]": "[]", "Duration": ".zero", "SubscriptionFeatures": "[]"
}
COLUMNS = 110


# MARK: Descriptors

def varint(data, index):
    value = shift = 0
    while True:
        byte = data[index]
        value, shift, index = value | (byte & 127) << shift, shift + 7, index + 1
        if byte < 128:
            return value, index


def decode(data):
    """A protobuf message as a dictionary: field number to the list of its values, nested messages as bytes."""
    fields, index = {}, 0
    while index < len(data):
        key, index = varint(data, index)
        value, index = varint(data, index)
        if key & 7 == 2:
            value, index = data[index:index + value], index + value
        fields.setdefault(key >> 3, []).append(value)
    return fields


def text(values):
    return values[0].decode() if values else ""


def comments(file):
    """The comments of a FileDescriptorProto by the path of what they describe (SourceCodeInfo.Location)."""
    found = {}
    for data in decode(file[9][0])[1] if 9 in file else []:
        location, path, index = decode(data), [], 0
        packed = location.get(1, [b""])[0]
        while index < len(packed):
            number, index = varint(packed, index)
            path.append(number)
        comment = " ".join((text(location.get(3)) or text(location.get(4))).split())
        if comment:
            found[tuple(path)] = comment
    return found


def swift_name(name):
    name = re.sub(r"_(\w)", lambda match: match.group(1).upper(), name)
    return f"`{name}`" if name in KEYWORDS else name


class Field:
    """One FieldDescriptorProto."""

    def __init__(self, data, message, comment):
        field = decode(data)
        self.schema_name, self.number, self.kind = text(field[1]), field[3][0], field[5][0]
        self.key, self.comment = f"{message.name}.{self.schema_name}", comment
        self.is_repeated = field[4][0] == REPEATED
        # A repeated number would be packed.
        if self.kind not in {*TYPES, MESSAGE} or self.is_repeated and self.kind not in WITH_LENGTH:
            sys.exit(f"generate_wire.py: {self.key} has a type that Shared/Wire doesn't know")
        self.type_name = text(field.get(6)).rsplit(".", 1)[-1]
        self.constant_name = swift_name(self.schema_name)
        written = self.type_name if self.kind == MESSAGE else TYPES[self.kind]
        self.written = f"[{written}]" if self.is_repeated else written
        self.is_optional = self.key in exceptions.OPTIONAL

    def constant(self):
        return f"package static var {self.constant_name}: SchemaField<{self.written}> {{ SchemaField({self.number}) }}"

    # MARK: In Swift

    @property
    def element(self):
        """The type in Swift, of a repeated field: that of an element."""
        if self.key in exceptions.TYPES:
            return exceptions.TYPES[self.key]
        if self.kind in (MESSAGE, ENUM):
            return exceptions.SWIFT_NAMES.get(self.type_name, self.type_name)
        if self.kind == 13 and self.schema_name.endswith("_ms"):
            return "Duration"
        return {"Bytes": "WireText"}.get(TYPES[self.kind], TYPES[self.kind])

    @property
    def type(self):
        return f"[{self.element}]" if self.is_repeated else self.element + ("?" if self.is_optional else "")

    @property
    def name(self):
        if self.key in exceptions.NAMES:
            return exceptions.NAMES[self.key]
        name = self.schema_name
        if self.element == "Duration":
            name = name.removesuffix("_ms")
        for end, replacement in (("_id", "ID"), ("_ms", "Milliseconds"), ("_s", "Seconds")):
            if name.endswith(end):
                return swift_name(name.removesuffix(end)) + replacement
        return swift_name(name)

    @property
    def default(self):
        if self.is_repeated:
            return "[]"
        if self.is_optional and self.kind == MESSAGE:
            return "nil"
        return DEFAULTS.get(self.type)

    def write(self):
        constant = f"Fields.{self.constant_name}"
        if self.is_optional and self.kind == MESSAGE:
            return [f"if let {self.name} {{ sink.field({constant}, {self.name}) }}"]
        if self.element == "Duration":
            return [f"sink.field({constant}, milliseconds: {self.name})"]
        if self.element in ("SessionID", "SubscriptionFeatures"):
            return [f"sink.field({constant}, {self.name}.rawValue)"]
        if self.element == "Int":
            return [f"sink.field({constant}, {TYPES[self.kind]}(clamping: {self.name}))"]
        if self.element == "[UInt8]":
            return [f"{self.name}.withUnsafeBytes {{ sink.field({constant}, WireText($0)) }}"]
        return [f"sink.field({constant}, {self.name})"]

    def decoded(self):
        """The statements that go before the initialiser's call, and the argument, to read protobuf-c's structure."""
        source = f"message.{self.schema_name}"
        if self.is_repeated and self.kind == MESSAGE:
            return [
                f"var {self.name}: {self.type} = []", f"{self.name}.reserveCapacity(message.n_{self.schema_name})",
                f"for index in 0..<message.n_{self.schema_name} {{",
                f"    {self.name}.append(try {self.element}(decoded: {source}[index]))", "}"
            ], self.name
        if self.element == "StreamPosition" and self.is_optional:
            return [], f"StreamPosition({source})"
        if self.element == "StreamPosition":
            return [f"guard let {self.name} = StreamPosition({source}) else {{ throw .undecodable }}"], self.name
        if self.kind == ENUM:
            return [
                f"guard let {self.name} = {self.element}(rawValue: Int({source}.rawValue)) else {{ throw .undecodable }}"
            ], self.name
        if self.kind == MESSAGE:
            read = f"{self.element}(decoded: {source})"
            return [], f"{source} == nil ? nil : try {read}" if self.is_optional else f"try {read}"
        if self.element in ("SessionID", "SubscriptionFeatures"):
            return [], f"{self.element}(rawValue: {source})"
        return [], {
            "String": f"WireText({source}).string", "WireText": f"WireText({source})", "Bool": f"{source} != 0",
            "[UInt8]": f"Array(WireText({source}).bytes)",
            "Duration": f".milliseconds(Int64({source}))"
        }.get(self.element, source)

    def scanned(self, copied):
        """The variable that a scan fills, the statement that does, and the argument for the initialiser."""
        if self.element == "ChannelKey":
            key = f"{self.name}Key"
            return f"var {key} = ScannedKey()", f"{key} = try ScannedKey(scanning: field.bytes)", f"try {key}.channel()"
        unknown = exceptions.UNKNOWN_CASE.get(self.element)
        value = {
            "UInt64": "try field.uint64", "UInt32": "try field.uint32", "Int64": "try field.int64",
            "Bool": "try field.bool", "String": f"try field.view.{copied}()", "WireText": "try field.view",
            "[UInt8]": "Array(try field.bytes)"
        }.get(self.element)
        if self.kind == ENUM:
            value = f"{self.element}(rawValue: try field.enumeration)" + (f" ?? {unknown}" if unknown else "")
            default = unknown or f"{self.element}(rawValue: 0)"
        else:
            default = self.default
        if self.kind == MESSAGE:
            value = f"try {self.element}(scanning: field.bytes)"
        fill = f"{self.name}.append({value})" if self.is_repeated else f"{self.name} = {value}"
        return f"var {self.name}: {self.type} = {default}", fill, self.name


class Pair:
    """A type and a name of a channel, which are one value in Swift."""
    schema_name, name, type, default, comment = "channel", "channel", "ChannelKey", None, ""

    def __init__(self, type_field, name_field):
        self.element = self.type
        self.fields = type_field, name_field

    def write(self):
        kind, name = self.fields
        return [
            f"sink.field(Fields.{kind.constant_name}, channel.type)", f"sink.field(Fields.{name.constant_name}, channel.name)"
        ]


class Message:
    """One DescriptorProto."""

    def __init__(self, data, package, index, comments):
        message = decode(data)
        self.name = text(message[1])
        self.full_name, self.is_of_service = f"{package}.{self.name}", package.endswith("service")
        self.comment = comments.get((4, index), "")
        self.fields = [
            Field(field, self, comments.get((4, index, 2, number), ""))
            for number, field in enumerate(message.get(2, []))
        ]

    @property
    def properties(self):
        names = [field.schema_name for field in self.fields[:2]]
        if self.name not in exceptions.SCANNED and names in (["channel_type", "channel"], ["channel_type", "target"]):
            return [Pair(*self.fields[:2]), *self.fields[2:]]
        return self.fields

    def schema(self):
        if not self.fields:
            return [f"/// {self.full_name}", f"package enum {self.name} {{}}"]
        return [
            f"/// {self.full_name}", f"package enum {self.name} {{",
            *indented(field.constant() for field in self.fields), "}"
        ]

    def swift(self, schema):
        conformances = ["ServerFrameBody" if self.name in schema.answers else
                        "PublicationEvent" if self.name in schema.events else "WireMessage"]
        if not schema.is_view(self):
            conformances += ["Sendable", "Hashable"]
        lines = documentation(self.comment) + [f"package struct {self.name}: {', '.join(conformances)} {{"]
        body = [f"package typealias Fields = Schema.{self.name}"]
        for union, frame in ((schema.answers, "ServerFrame"), (schema.events, "Publication")):
            if self.name in union:
                body.append(f"package static var field: SchemaField<Fields> {{ Schema.{frame}.{union[self.name]} }}")
        for field in self.properties:
            body += documentation(field.comment, 4) + [f"package var {field.name}: {field.type}"]
        body += ["", *self.initialiser(), "", *self.write()]
        lines += indented(body) + ["}"]
        if self.name in exceptions.SCANNED:
            lines += ["", *self.scan()]
        elif self.is_of_service and self.name not in exceptions.NOT_READ:
            if self.name not in schema.nested or self.name in exceptions.ALSO_READ_ALONE:
                lines += ["", *self.read_alone()]
            if self.name in schema.nested:
                lines += ["", *self.read_nested()]
        return lines

    def initialiser(self):
        if not self.properties:
            return ["package init() {}"]
        unlabelled = exceptions.UNLABELLED.get(self.name, ())
        parameters = [
            ("_ " if field.schema_name in unlabelled else "") + f"{field.name}: {field.type}"
            + (f" = {field.default}" if field.default else "") for field in self.properties
        ]
        head = f"package init({', '.join(parameters)}) {{"
        lines = [head] if len(head) + 4 <= COLUMNS else ["package init(", *filled(parameters, 8), ") {"]
        return lines + [f"    self.{field.name} = {field.name}" for field in self.properties] + ["}"]

    def write(self):
        if not self.properties:
            return ["package func write(to sink: inout some FieldSink) {}"]
        statements = [line for field in self.properties for line in field.write()]
        return ["package func write(to sink: inout some FieldSink) {", *indented(statements), "}"]

    def call(self, arguments):
        """The call of the initialiser, with an argument for each property."""
        unlabelled = exceptions.UNLABELLED.get(self.name, ())
        texts = [
            argument if field.schema_name in unlabelled else f"{field.name}: {argument}"
            for field, argument in zip(self.properties, arguments)
        ]
        marked = any("try " in argument for argument in arguments)
        texts = [re.sub(r"\btry ", "", text) for text in texts]
        call = ("try " if marked else "") + "self.init("
        line = call + ", ".join(texts) + ")"
        if len(line) + 8 <= COLUMNS:
            return [line]
        lines = filled(texts, 12)
        return [call, *lines[:-1], lines[-1] + ")"]

    def scan(self):
        options = exceptions.SCANNED[self.name]
        parts = [field.scanned(options["text"]) for field in self.fields]
        cases = [f"case Fields.{field.constant_name}: {fill}" for field, (_, fill, _) in zip(self.fields, parts)]
        return [
            f"extension {self.name}: ScanDecodable {{",
            "    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {",
            *indented((variable for variable, _, _ in parts), 8), "        var scanner = ProtobufScanner(bytes)",
            "        while let field = try scanner.next() {", "            switch field.number {",
            *indented(cases, 12), f"            default: {options['unknown']}", "            }", "        }",
            *indented(self.call([argument for _, _, argument in parts]), 8), "    }", "}"
        ]

    def read_alone(self):
        unpack = "rtm__service__" + re.sub(r"(?<!^)([A-Z])", r"_\1", self.name).lower() + "__unpack"
        return [
            f"extension {self.name}: ArenaDecodable {{",
            "    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {",
            f"        let message = try Self.unpack(bytes, in: arena, with: {unpack})", *indented(self.decode(), 8), "    }", "}"
        ]

    def read_nested(self):
        return [
            f"extension {self.name} {{",
            f"    init(decoded message: UnsafeMutablePointer<Rtm__Service__{self.name}>?) throws(WireError) {{",
            "        guard let message = message?.pointee else { throw .undecodable }", *indented(self.decode(), 8), "    }", "}"
        ]

    def decode(self):
        parts = [field.decoded() for field in self.fields]
        return [line for before, _ in parts for line in before] + self.call([argument for _, argument in parts])


class Enum:
    """One EnumDescriptorProto."""

    def __init__(self, data, index, comments):
        enum = decode(data)
        self.name, self.comment = text(enum[1]), comments.get((5, index), "")
        names = [text(decode(value)[1]) for value in enum[2]]
        start = next(length for length in range(len(names[0]), -1, -1)
                     if all(name.startswith(names[0][:length]) for name in names) and names[0][:length].endswith("_"))
        self.values = []
        for number, (name, value) in enumerate(zip(names, enum[2])):
            value = decode(value).get(2, [0])[0]
            self.values.append((swift_name(name[start:].lower()), value, comments.get((5, index, 2, number), "")))

    def cases(self):
        lines = documentation(self.comment, 4)
        name = exceptions.SWIFT_NAMES.get(self.name, self.name)
        body = []
        for case, value, comment in self.values:
            if value != 0 or exceptions.ENUMS[self.name]:
                body += documentation(comment, 8) + [f"case {case} = {value}"]
        lines += [f"package enum {name.split('.')[-1]}: Int, Sendable, Hashable, CaseIterable {{", *indented(body), "}"]
        if "." in name:
            return [f"extension {name.split('.')[0]} {{", *indented(lines), "}"]
        return lines

    def methods(self, schema):
        methods = [(name, value, comment) for name, value, comment in self.values if value]
        body = []
        for name, value, comment in methods:
            body += documentation(comment, 4)
            body += [f"@inlinable package static var {name}: {self.method_type(name, comment, schema)} {{ .init({value}) }}"]
        numbers = indented(filled([f'{value}: "{name}"' for name, value, _ in methods], 8))
        return [
            f"/// The methods of {self.name.removesuffix('Method').lower()}.", f"package enum {self.name} {{",
            *indented(body), "", "    /// The methods' names by their numbers, for people who look at traces.",
            "    package static let names: [UInt32: String] = [", *numbers, "    ]", "}"
        ]

    def method_type(self, name, comment, schema):
        """The type of a method's constant, by what its comment says it carries."""
        match = re.match(r"(push|request) (\w+)(?:, response (\w+)|, (answered without content))?\b", comment)
        kind, *messages = match.groups() if match else ("", "")
        if kind == "push" and not any(messages[1:]):
            kind, parameters = "ServicePush", messages[:1]
        elif kind == "request" and any(messages[1:]):
            kind, parameters = "ServiceMethod", [messages[0], messages[1] or "NoContent"]
        else:
            sys.exit(f"generate_wire.py: the comment of {self.name}.{name} doesn't say what it carries")
        for message in parameters:
            if message not in (*schema.messages, "NoContent"):
                sys.exit(f"generate_wire.py: {self.name}.{name} carries {message}, which the schema doesn't have")
        return f"{kind}<{', '.join(parameters)}>"


class Schema:
    """All files of the schema."""

    def __init__(self, files):
        self.messages = {}
        for message in (message for file in files for message in file.messages):
            if message.name in self.messages:
                sys.exit(f"generate_wire.py: two messages of the schema are called {message.name}")
            self.messages[message.name] = message
        for name in (*exceptions.HAND_WRITTEN, *exceptions.SCANNED):
            if name not in self.messages:
                sys.exit(f"wire_messages.py names {name}, which the schema doesn't have")
        keys = {field.key for message in self.messages.values() for field in message.fields}
        for key in (*exceptions.NAMES, *exceptions.TYPES, *exceptions.OPTIONAL):
            if key not in keys:
                sys.exit(f"wire_messages.py names {key}, which the schema doesn't have")
        self.nested = {field.type_name for message in self.messages.values() for field in message.fields
                       if field.kind == MESSAGE}
        self.answers = self.union("ServerFrame")
        self.events = self.union("Publication")

    def union(self, name):
        return {field.type_name: field.constant_name for field in self.messages[name].fields if field.kind == MESSAGE}

    def is_view(self, message):
        """Whether a message holds views into what it was read from."""
        return any(field.element in ("WireText", "MessageView")
                   or field.element in self.messages and field.element not in exceptions.HAND_WRITTEN
                   and self.is_view(self.messages[field.element]) for field in message.properties)


class File:
    """One FileDescriptorProto."""

    def __init__(self, data):
        file = decode(data)
        found = comments(file)
        self.path = text(file[1])
        self.messages = [
            Message(message, text(file[2]), index, found) for index, message in enumerate(file.get(4, []))
        ]
        self.enums = [Enum(enum, index, found) for index, enum in enumerate(file.get(5, []))]

    @property
    def stem(self):
        return "".join(word.capitalize() for word in pathlib.PurePath(self.path).stem.split("_"))

    def source(self, schema):
        constants = []
        for message in self.messages:
            constants += ([""] if constants else []) + indented(message.schema())
        generated = [message for message in self.messages if message.name not in exceptions.HAND_WRITTEN]
        parts = [enum.methods(schema) for enum in self.enums if enum.name in exceptions.METHODS]
        parts += [enum.cases() for enum in self.enums if enum.name in exceptions.ENUMS]
        parts += [message.swift(schema) for message in generated]
        body = [line for part in parts for line in ["", *part]]
        elements = {field.element for message in generated for field in message.properties}
        imports = ["package import RTMModel"] if elements & exceptions.MODEL_TYPES else []
        if any("Self.unpack(" in line or "UnsafeMutablePointer<Rtm" in line for line in body):
            imports = ["import CProtobufC", *imports, "import RTMProtocolC"]
        return "\n".join([
            f"// Written by protocol/generate_wire.py from {self.path}: `make generate`.", "// swift-format-ignore-file", "",
            *imports, *([""] if imports else []), "extension Schema {", *constants, "}", *body, ""
        ])


# MARK: Text

def indented(lines, by=4):
    return [" " * by + line if line else line for line in lines]


def filled(items, indentation):
    """Items with commas between them, in as few lines as have room for them."""
    lines, line = [], ""
    for place, item in enumerate(items):
        item += "," if place + 1 < len(items) else ""
        if line and indentation + len(line) + 1 + len(item) > COLUMNS - 4:
            lines.append(line)
            line = item
        else:
            line = f"{line} {item}".strip()
    return indented([*lines, line])


def documentation(comment, indentation=0):
    if not comment:
        return []
    comment = comment[0].upper() + comment[1:]
    if comment[-1] not in ".:!?":
        comment += "."
    return ["/// " + line for line in textwrap.wrap(comment, COLUMNS - indentation - 4, break_on_hyphens=False)]


def main(descriptors, folder):
    files = [File(data) for data in decode(pathlib.Path(descriptors).read_bytes())[1]]
    schema = Schema(files)
    for file in files:
        (pathlib.Path(folder) / f"{file.stem}Schema.swift").write_text(file.source(schema))


main(*sys.argv[1:])
