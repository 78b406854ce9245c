"""Reads the headers of the language, and makes the tables of its pages from them (check_dialect_page.py).

It reads what clang-format wrote: a declaration with its `///` comment above, or `///<` behind; members indented by two
blanks; the end of a class, an enumeration or a body at the indentation of its beginning. Anything in a namespace `detail`,
and what is private, is no part of the language.
"""
import dataclasses
import re

HEADERS = ("types", "program", "rank", "channels", "moves", "hooks", "note", "chunks")
FOLDER = "frontend/dsl/include/mscclc"
TITLES = {
    "types": "Units, choices, tags",
    "program": "Collectives, programs and loops",
    "rank": "Ranks, buffers, chunks, thread blocks",
    "channels": "Channels",
    "moves": "Movement statements",
    "hooks": "Hooks",
    "note": "Notes",
    "chunks": "The chunk language",
}
COUNTERPART = re.compile(r"\b(Python|MSCCLPPLang): (.*?)(?:[.;] |\.?$)")
# How types are shown: those of the headers that a caller does not write.
TYPES = (
    (r"\[\[.*?\]\]\s*", ""),
    (r",? ?(?:const )?Place &?at(?: = Place::here\(\))?", ""),
    (r"std::initializer_list<(?:detail::)?(?:Listed)?(\w+)>", r"{\1, …}"),
    (r"detail::ElementList<(\w+)>", r"{\1, …}"),
    (r"detail::IntegerList", "{integer, …}"),
    (r"List<detail::Text>", "{text, …}"),
    (r"List<Tag>", "{Tag, …}"),
    (r"detail::AnyInteger", "integer or `automatic`"),
    (r"detail::AnyBlock", "ThreadBlock or `automatic`"),
    (r"detail::AnyFlag", "bool or `automatic`"),
    (r"detail::AnyChannel", "ChannelType or `automatic`"),
    (r"detail::(?:Integer|PlacedIndex)|std::(?:int64|uint64|size)_t", "integer"),
    (r"detail::(?:Text|NoteFormat)", "text"),
    (r" &&", " "),
    (r"(?:const )?T (?:&\s*)?\.\.\.(\w+)", r"\1…"),
    (r"const (\w+(?:::\w+)*) ?&", r"\1 "),
    (r"\{Integer, …\}", "{integer, …}"),
    (r"\b(?:explicit|constexpr|static|inline|virtual) ", ""),
    (r" +", " "),
)


@dataclasses.dataclass
class Item:
    """A declaration: its kind (enum, struct, class, call, option), its name, how it is shown, what its comment says, and its
    members. `value` is the default of an option."""
    kind: str
    name: str
    shown: str
    words: str
    members: list = dataclasses.field(default_factory=list)
    value: str = ""

    @property
    def meaning(self):
        """What the comment says, without the counterpart in another language."""
        return re.sub(r"\s+", " ", COUNTERPART.sub("", self.words)).strip()

    def counterpart(self, language="Python"):
        """Returns the counterpart in the language, or nothing."""
        found = COUNTERPART.search(self.words)
        return found[2] if found and found[1] == language else ""


def shown(text):
    """Returns a declaration as a caller sees it."""
    text = re.sub(r"\s+", " ", text).strip()
    for pattern, instead in TYPES:
        text = re.sub(pattern, instead, text)
    text = re.sub(r"\(\s+", "(", text)
    text = re.sub(r"\s+([,)])", r"\1", text)
    return re.sub(r"\)\s*(?:const)?\s*&?\s*(?:= default)?;?$", ")", text).strip().rstrip(";").strip()


CALL = re.compile(r"(operator\S+?|~?\b\w+)\s*\(")


def call_name(text):
    """Returns the name of the function that a declaration declares."""
    found = CALL.search(text)
    return found[1] if found else ""


def split_call(text):
    """Returns a function without its type: what stands before its name is dropped, if a caller does not need it."""
    found = CALL.search(text)
    return text[found.start():] if found else text


class Reader:
    """Reads the lines of a header."""

    def __init__(self, text):
        self.lines = text.splitlines()
        self.at = 0

    def skip_body(self, indent):
        """Goes past the line that ends a body."""
        while not re.match(rf"{indent}\}}", self.lines[self.at]):
            self.at += 1
        self.at += 1

    def declaration(self):
        """Returns the text up to `;` or `{` at the end of a line, and whether a body follows."""
        text = ""
        while True:
            line = self.lines[self.at]
            self.at += 1
            code = re.sub(r"\s*///<.*|\s*//.*", "", line).strip()
            text += (" " if text else "") + code
            if code.endswith("{"):
                return text[:-1].strip(), True
            if "requires requires" in code:
                continue
            if code.endswith((";", "}")) or code.endswith(","):
                if not code.endswith(",") or text.count("(") == text.count(")"):
                    return re.sub(r"(?:\) : [^{}]*)?\s*\{[^{}]*\}$", lambda found: ")" * found[0].startswith(")"), text), False

    def items(self, indent="", of="", end=None):
        """Yields the declarations of a scope."""
        words, public = [], True
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if end and line.startswith(end):
                self.at += 1
                return
            code = line.strip()
            if code.startswith("///") and not code.startswith("///<"):
                words.append(code[3:].strip())
                self.at += 1
                continue
            if re.match(r"namespace detail\b", code):
                while not re.match(r"\}( //.*)?$", self.lines[self.at]):
                    self.at += 1
                self.at += 1
                words = []
                continue
            if code in ("public:", "private:", "protected:"):
                public = code == "public:"
            if not code or code.startswith(("#", "//", "namespace", "}", "extern")) or code.endswith(":") or code.startswith("friend"):
                if not code or not code.startswith("//"):
                    words = []
                self.at += 1
                continue
            item = self.item(indent, of, " ".join(words))
            words = []
            if public and item:
                yield item

    def item(self, indent, of, words):
        """Returns the declaration that begins here, or nothing."""
        begin = self.lines[self.at]
        behind = re.search(r"///< (.*)$", begin)
        if found := re.match(r"\s*(enum class|struct|class) (\w+)(?: : [^{]*)? \{", begin):
            kind, name = found.groups()
            if kind == "enum class":
                return self.enumeration(name, words)
            self.at += 1
            members = list(self.items(indent + "  ", name, indent + "};"))
            return Item(kind, name, name, words, members)
        if re.match(r"\s*template <typename Channel> struct", begin):
            self.skip_body(indent)
            return None
        text, body = self.declaration()
        if body:
            self.skip_body(indent)
        text = re.sub(r"^template <.*?> (?:requires requires\(.*?\) \{.*?\} )?|\[\[.*?\]\] *", "", text)
        words = words or (behind[1] if behind else "")
        if of.endswith(("Options",)) or of in ("Contribution", "ChunkCounts"):
            if option := re.match(r"([\w:<>]+) (\w+)(?: = (.*?))?;?$", text):
                return Item("option", option[2], shown(option[1]), words, value=option[3] or "")
        name = call_name(text)
        if found := re.match(r"(?:inline constexpr \S+|using) (\w+)(?:;| =)", text):
            return Item("call", found[1], found[1], words)
        if not name or name.startswith(("~", "operator=")) or "= delete" in text or not words and (name != of or "= default" in text):
            return None
        return Item("call", name, shown(split_call(text.replace("= default", "").strip())), words)

    def enumeration(self, name, words):
        """Returns an enumeration with its values."""
        text = ""
        while True:
            line = self.lines[self.at]
            self.at += 1
            text += line + "\n"
            if "};" in line:
                break
        body = text[text.index("{") + 1:text.rindex("}")]
        values = []
        for line in body.split("\n"):
            code, _, meaning = line.partition("///<")
            for value in re.findall(r"\w+", code):
                values.append(Item("value", value, value, meaning.strip()))
        return Item("enum", name, name, words, values)


def read(root):
    """Returns header -> its items, in the order of the pages."""
    return {name: list(Reader((root / FOLDER / f"{name}.hpp").read_text(encoding="utf-8")).items()) for name in HEADERS}


def cell(text):
    """Returns text for a cell of a table."""
    return text.replace("|", "\\|")


def code(text):
    """Returns code for a cell of a table; nothing if there is none."""
    return f"`{cell(text)}`" if text else ""


def options(headers):
    """Yields the lines of all structs of options."""
    for items in headers.values():
        for item in items:
            if item.name.endswith("Options"):
                yield from ["", f"### {item.name}", "", item.meaning, "", "| option | type | default | what it says |", "|---|---|---|---|"]
                for member in item.members:
                    if member.kind == "option":
                        said = member.meaning + (f" Python: `{member.counterpart()}`." if member.counterpart() else "")
                        yield f"| `.{member.name}` | {cell(member.shown)} | {code(member.value)} | {cell(said.strip())} |"


def enumerations(headers):
    """Yields a table of all enumerations."""
    yield from ["| enumeration | values | what it says |", "|---|---|---|"]
    for items in headers.values():
        for item in items:
            if item.kind == "enum":
                values = ", ".join(code(value.name) + (f" ({value.words})" if value.words else "") for value in item.members)
                yield f"| `{item.name}` | {values} | {cell(item.meaning)} |"


def row_of_class(item):
    """Returns the row of a class: its constructors without a comment of their own, or its name; and what it is."""
    heads = [member.shown for member in item.members if member.name == item.name and not member.words] or [item.name]
    if fields := [f".{member.name} = {member.value}" for member in item.members if member.kind == "option"]:
        heads = [f"{item.name}{{{', '.join(fields)}}}"]
    return f"| {', '.join(f'**`{cell(head)}`**' for head in heads)} | {cell(item.meaning)} |"


def calls(headers):
    """Yields the classes and functions of each header."""
    for name, title in TITLES.items():
        yield from ["", f"### {title}", "", f"[`{name}.hpp`](include/mscclc/{name}.hpp)", ""]
        yield from ["| call | what it does |", "|---|---|"]
        for item in headers[name]:
            if item.kind == "call":
                yield f"| {code(item.shown)} | {cell(item.meaning)} |"
            if item.kind in ("class", "struct") and not item.name.endswith("Options"):
                yield row_of_class(item)
                for member in item.members:
                    if member.kind == "call" and member.words:
                        yield f"| {code(member.shown if member.name == item.name else '.' + member.shown)} | {cell(member.meaning)} |"


def from_language(headers, language):
    """Yields a table of what the language has, and what is written here."""
    yield from [f"| {language} | C++ | what it does |", "|---|---|---|"]
    for items in headers.values():
        for item in items:
            for member in [item, *item.members]:
                if not (theirs := member.counterpart(language)) or member.kind not in ("class", "call"):
                    continue
                of_class = member is not item and member.name != item.name
                ours = (f"{item.name}::" if of_class else "") + member.shown
                yield f"| {code(theirs)} | {code(ours)} | {cell(first_sentence(member.meaning))} |"


def first_sentence(text):
    """Returns what a comment says first."""
    return re.split(r"(?<=[.:;]) ", text)[0].rstrip(":;.") if text else ""


LISTS = {
    "OPTIONS": options,
    "ENUMERATIONS": enumerations,
    "CALLS": calls,
    "PYTHON": lambda headers: from_language(headers, "Python"),
    "MSCCLPPLANG": lambda headers: from_language(headers, "MSCCLPPLang"),
}
