"""Records how PyYAML reads short texts with libyaml: python3 record.py [SEED COUNT] > cases.json

Without arguments it writes the cases of this folder. With arguments it writes COUNT random texts:
CYAN_LIBYAML_CASES=FILE cargo test -p syntax --test libyaml compares them.
"""

import json
import random
import sys

import yaml

# Each of these was or could be read in two ways.
WRITTEN = [
    "a: {\n\tb: 1,\n\tc: 2 }", "a: [\n\t\"x\",\n\t\"y\"\n]", "a: \"one\n\ttwo\"", "a: \"one\ntwo\"",
    "a: 'one\ntwo'", "a: [x,\ny]", "a: {b: 1,\nc: 2}", "a: \"x\u0085 y\"", "a: 'x\u2028 y'",
    "a: x\u0085b: y", "a: |#c\n  b\n", "a: >#c\n  b\n", "a: |-#c\n  b\n", "a: |\t#c\n  b\n", "a: | x\n  b\n",
    "{=: 1}", "{a: =}", "=: 1", "<<: {a: 1}", "a: 1\n\t\nb: 2\n", "a: 1\n\t# c\nb: 2\n", "a:\n\t- b\n",
    "\ta: 1", "a:\t1", "a\t: 1", "- \ta", "-\ta", "-\t- a", "-\ta: 1", "?\ta", "? \ta\n:\tb", "a: b\t# c", "a: b\n\tc",
    "a: |\n\tb", "a: |\n  b\n\tc", "a: |\n \t b", "a: [b\t,\tc]\t", "[a: b\t]", "a: 'b'\t", "'a'\t: b",
    "a: &x one\nb: &x two", "a: &x [*x]", "*x", "&x", "&x a: *x", "a: &x\nb: *x", "&x &y a", "!t !u a", "!t &x a",
    "&x !t a", "*x : a", "- &x a\n- *x:b", "- &x: a", "&x*", "&é a", "&x,a", "[&x, a]", "[*x, a]",
    "{: 1}", "{? : 1}", "{?: 1}", "{a?: 1}", "{a?b}", "{a: ?b}", "{a:?b}", "{a:1}", "{a:}", "{a:,b}", "{\"a\":1}",
    "{\"a\" :1}", "{'a'\n: 1}", "{a\n: 1}", "[a\n: 1]", "[\"a\":1]", "[a:b]", "[a:[b]]", "[?]", "[? a]", "[? a: b]",
    "[? : a]", "[? , a]", "[? a, b]", "[,]", "[a,,b]", "{,}", "{a,,b}", "[a,]", "{a,}", "[-]", "[-, a]", "[- a]",
    "[-a]", "{-: a}", "{a: -}", "{a: - b}", "[a - b]", "[a #c\n]", "[a#c\n]", "[a,#c\n b]", "[a", "{a", "[a}", "]",
    "}", ",", "a, b", "[a b]: c", "[a]: c", "{a: b}: c", "[a\n]: c", "- - a", "- a\n - b", "- a\n  - b", "a:\n- b\nc: d",
    "a:\n - b\n- c", "a: - b", "a: b: c", "a: b:c", "a: b :c", "a:b", "a :b", "a:", ":", ": a", "? ", "? a", "?a", "- ?a",
    ":a", "- :a", "-a", "--a", "---a", "--- a", "---\ta", "---\n", "---", "--- # c", "--- |\n a", "--- a: b", "---\na: b",
    "a\n---\nb", "a\n...\nb", "a\n...\n", "a\n... # c\n", "...\n", "...\na", "a ---", "a\n --- b", "'a\n--- b'",
    "'a\n... b'", "\"a\n---\nb\"", "'a\n---b'", "a\n---b", "|\n a\n---\n", "%YAML 1.1\n--- a", "%YAML 1.2\n--- a",
    "%YAML 1.3\n--- a", "%YAML 2.0\n--- a", "%YAML 1.1\na", "%YAML 1.1\n%YAML 1.1\n--- a", "%YAML 1\n--- a",
    "%YAML  1.1 # c\n--- a", "%FOO a\n--- a", "% a", "%a\n--- b", " %a", "a\n%b", "%TAG ! t:\n--- !a b",
    "%TAG !y! t:\n--- !y!a b", "%TAG !y! t:\n%TAG !y! u:\n--- a", "!y!a b", "!<a b", "!<a> b", "!<> b", "!a,b c", "[!a, b]",
    "[!a,b]", "!a[b", "!a%20 b", "!a%2 b", "!a%ff b", "!a%e4 b", "!!str a", "!! a", "! a", "!", "!a", "- !a\n- b",
    "!a\n b", "!a 'b'", "!a |\n b", "!a [b]", "!a {b: c}", "a: !t\nb: !t", "'a''b'", "'a' 'b'", "'a'b", "\"a\"b",
    "'a\\'", "\"\\", "\"\\\"", "\"\\x4\"", "\"\\x41\"", "\"\\u263a\"", "\"\\ud83d\"", "\"\\U0001F600\"",
    "\"\\U00110000\"", "\"\\q\"", "\"\\/\"", "\"\\\t\"", "\"\\N\\_\\L\\P\\e\\0\\a\\b\\v\\f\\r\"", "\"a\\\n  b\"",
    "\"a \\\n  b\"", "\"a\\\n\n  b\"", "\"a\n\n  b\"", "\"a  \n  b\"", "\"\n a\"", "\" a\n \"", "'\n\na'", "'", "\"", "'a\n",
    "|\n", "|", ">", "|\n\n", "|+\n\n", "|-\n\n", "|\n a\n\n", "|+\n a\n\n", "|-\n a\n\n", "|\n a", "|+\n a", "|-\n a",
    "|\n a\n ", "|+\n a\n ", "|\n a\n  ", ">\n a\n b\n", ">\n a\n\n b\n", ">\n a\n  b\n c\n", ">\n a\n\n\n  b\n\n c\n",
    ">\n\n a\n", ">\n a\n\tb\n", ">\n a\n \tb\n c\n", "|2\n  a\n", "|1\n  a\n", "|0\n a", "|10\n a", "|2-\n  a\n", "|-2\n  a\n",
    "|--\n a", "|+1+\n a", "a: |\nb: 1", "a: |\n b\nc: 1", "a:\n  b: |\n   c\n  d: e", "- |\n a\n- b", "|\n  a\n b", "|\n\n  a\n b",
    "|\n   \n a", "|\n a\r\n b\r c\n", "|\n a\u0085 b\u2028 c\n", ">\n a\u0085 b\u2028 c\n d\n", "a: |  \n b", "a: |# c", "a: | # c\n b",
    "@a", "`a", "%a", "a@b", "a: @b", "a: %b", "a: b#c", "a: b #c", "#c", "a#", "a: #c\n  b", "a\n#c\nb", "a: b\n#c\n  d",
    "'a' #c", "'a'#c", "[a]#c", "a: [b]#c", "\ufeffa", "\ufeff\ufeffa", "a\ufeff", "a\n\ufeffb: c", "\ufeff- a\n- b",
    "a\u0007", "a: \u007f", "'\u0000'", "a: \u00a0b", "a:\u00a0b", "a\r\nb", "a: b\rc: d", "a: b\r\nc: d", "", " ", "\n", "\t",
    "# c", "a: " + "x" * 2000, "x" * 1024 + ": a", "x" * 1025 + ": a", "? " + "x" * 1030 + "\n: a", "{" + "x" * 1025 + ": a}",
    "é" * 1024 + ": a", "é" * 1025 + ": a", "'" + "x" * 1023 + "': a", "[" + "x" * 1030 + "]: a", "a\n  b: c", "a b: c\n d",
    "a:\n  b\n c", "a:\n  b: 1\n c: 2", "  a: 1\nb: 2", "a: 1\n  b: 2", "a: 'b'\n  c", "a: [b]\n  c", "a: *b", "a: &b", "a: &b\n  c: d",
    "- &a\n- *a", "? &a\n: *a", "? |\n  a\n: b", "? - a\n: - b", "? a\n? b", "? a\n: b\nc: d", "a: ? b", "a: b\n? c",
]

TOKENS = [
    "a", "b", "x y", "- ", "-", "? ", "?", ": ", ":", "key: ", "k:", "\n", "\n", "\n\n", "\n  ", "\n ", "\n    ", " ",
    "  ", "\t", "\n\t", "\t- ", "{", "}", "[", "]", ",", ", ", "|", "|\n", "|-\n  ", "|+\n ", "|2\n", ">", "> \n  ", ">-",
    "'", "'", "\"", "\"", "\\", "\\n", "\\x41", "\\\n", "#", "# c", " #c", "|#c\n", "|  # c\n", "&a ", "*a", "&b ", "*b ",
    "! ", "!t ", "!!str ", "!!int ", "!<tag:x> ", "<<: ", "=", "= ", "\u0085", "\u2028", "\u2029", "\ufeff", "\r", "\r\n",
    "---", "--- ", "\n---\n", "...", "\n...\n", "%", "%YAML 1.1\n", "@", "`", "~", "null", "0x1F", "${", "é", "\u00a0",
    "!", "&", "*", "%TAG ! tag:a:\n", "''", "\"\"", "\u0007", "\U0001F600", "!a!b ", "\\u2028",
]

WHOLE = [
    "a: {b: 1, c: [x, y]}\n", "a:\n  - b\n  - c: d\n", "k: |\n  t\n  u\nl: m\n", "k: \"x\n  y\"\n", "k: 'x\n\n  y'\n",
    "a: &a 1\nb: *a\n", "a: {\n  b: 1,\n  c: 2 }\n", "- - a\n  - b\n- c\n", "? a\n: b\n", "a: >-\n  x\n\n   y\n  z\n\n",
]


def random_text(source):
    if source.random() < 0.5:
        return "".join(source.choice(TOKENS) for _ in range(source.randint(1, 14)))
    text = list(source.choice(WHOLE))
    for _ in range(source.randint(1, 4)):
        place = source.randint(0, len(text))
        kind = source.random()
        if kind < 0.6:
            text.insert(place, source.choice(TOKENS))
        elif kind < 0.8:
            text[place : place + 1] = [source.choice(TOKENS)]
        else:
            text[place : place + source.randint(1, 3)] = []
    return "".join(text)


def written(node, above=()):
    """The node on one line, each scalar with the sign of its style."""
    if id(node) in above:
        raise yaml.YAMLError("a value inside itself")
    above = above + (id(node),)
    if isinstance(node, yaml.ScalarNode):
        return (node.style or ":") + json.dumps(node.value, ensure_ascii=False)
    if isinstance(node, yaml.SequenceNode):
        return "[" + " ".join(written(item, above) for item in node.value) + "]"
    entries = (written(key, above) + "=" + written(value, above) for key, value in node.value)
    return "{" + " ".join(entries) + "}"


def read(text):
    try:
        node = yaml.compose(text, yaml.CSafeLoader)
        return "nothing" if node is None else written(node)
    except yaml.YAMLError:
        return None


def main():
    if len(sys.argv) > 1:
        source = random.Random(int(sys.argv[1]))
        texts = [random_text(source) for _ in range(int(sys.argv[2]))]
    else:
        source = random.Random(7)
        texts = WRITTEN + [random_text(source) for _ in range(1500)]
    cases = {text: read(text) for text in texts}
    lines = (f"  {json.dumps(text)}: {json.dumps(value)}" for text, value in cases.items())
    print("{\n" + ",\n".join(lines) + "\n}")


main()
