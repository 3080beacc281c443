"""A provider on the official framework. It keeps each item as a JSON file in a folder, so tests can look at what exists.

Its items show what providers do: defaults, names from the random seed, unknown outputs, replacements of both orders,
secrets, failures, and operations that take time or end the process. Each process adds its number to the file that the
variable `SHOP_STARTS` names.
"""

import asyncio
import hashlib
import json
import os
import sys
import tempfile
import uuid

from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.provider.experimental.provider import (
    CheckFailure,
    CheckResponse,
    ConfigureResponse,
    CreateResponse,
    DiffResponse,
    GetSchemaResponse,
    InvokeResponse,
    PropertyDiff,
    PropertyDiffKind,
    Provider,
    ReadResponse,
    UpdateResponse,
)
from pulumi.provider.experimental.server import main

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
# The framework hands these over as texts.
UNKNOWNS = {
    UNKNOWN,
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
}

INPUTS = {
    "name": {"type": "string", "description": "The name; made up if it is left out."},
    "size": {"type": "integer", "description": "The size; 1 if it is left out."},
    "label": {"type": "string", "description": "A text that an update changes."},
    "shape": {"type": "string", "description": "A change replaces the item; the new one is made first."},
    "slot": {"type": "string", "description": "Only one item can have it. A change replaces the item, the old one first."},
    "password": {"type": "string", "secret": True, "description": "A secret."},
    "tags": {"type": "object", "additionalProperties": {"type": "string"}},
    "waitBefore": {"type": "number", "description": "Seconds before an operation does anything."},
    "waitAfter": {"type": "number", "description": "Seconds between what an operation does and its answer."},
    "fail": {"type": "string", "description": "What goes wrong: an operation, or `exit-` or `exit-after-` and one."},
}
OUTPUTS = dict(
    INPUTS,
    serial={"type": "integer", "description": "Counts the items of a folder."},
    digest={"type": "string", "description": "A digest of label and size."},
    revision={"type": "integer", "description": "Counts the updates."},
    key={"type": "string", "secret": True, "description": "A secret that the provider makes."},
)
SCHEMA = {
    "name": "shop",
    "version": "0.1.0",
    "description": "Items as files in a folder.",
    "config": {"variables": {"folder": {"type": "string"}, "token": {"type": "string", "secret": True}}},
    "provider": {
        "inputProperties": {
            "folder": {"type": "string", "description": "The folder of the items."},
            "token": {"type": "string", "secret": True},
            "plain": {"type": "boolean", "description": "Take no secrets and make no previews."},
        },
        "requiredInputs": ["folder"],
    },
    "resources": {
        "shop:index:Item": {
            "description": "An item in the shop.",
            "inputProperties": INPUTS,
            "properties": OUTPUTS,
            "required": ["name", "size", "serial", "digest", "revision", "key"],
        }
    },
    "functions": {
        "shop:index:getItem": {
            "description": "Finds an item by its name.",
            "inputs": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
            "outputs": {
                "properties": {"id": {"type": "string"}, "label": {"type": "string"}, "size": {"type": "integer"}}
            },
        }
    },
}


def plain(value):
    """The Python value of a property, without marks."""
    inner = value.value
    if isinstance(inner, (str, float, bool)) or inner is None:
        return inner
    if isinstance(inner, tuple):
        return [plain(item) for item in inner]
    if hasattr(inner, "items"):
        return {key: plain(item) for key, item in inner.items()}
    return str(inner)


def wrap(value):
    """The property of a Python value."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return PropertyValue(value)
    if isinstance(value, (int, float)):
        return PropertyValue(float(value))
    if isinstance(value, list):
        return PropertyValue([wrap(item) for item in value])
    return PropertyValue({key: wrap(item) for key, item in value.items()})


def unknown(value):
    return plain(value) in UNKNOWNS if isinstance(plain(value), str) else False


def text(properties, name):
    return plain(properties[name]) if name in properties else None


def exit_in(call):
    print(f"the process ends in {call}", file=sys.stderr, flush=True)
    os._exit(3)


class Shop(Provider):
    folder = None
    secrets = True

    async def get_schema(self, request):
        if os.environ.get("SHOP_FAIL") == "schema":
            exit_in("schema")
        return GetSchemaResponse(json.dumps(SCHEMA))

    async def check_config(self, request):
        if text(request.new_inputs, "token") == "exit-check-config":
            exit_in("check-config")
        if "folder" not in request.new_inputs:
            return CheckResponse(failures=[CheckFailure("folder", "the folder is missing")])
        return CheckResponse(inputs=request.new_inputs)

    async def configure(self, request):
        # The old form of the settings must say the same.
        folder = plain(request.args["folder"])
        if text(request.args, "token") == "exit-configure":
            exit_in("configure")
        if request.variables.get("shop:config:folder") != folder:
            raise Exception("the two forms of the settings differ")
        self.folder = folder
        self.serial = max((item["serial"] for item in self.all()), default=0)
        is_plain = text(request.args, "plain") is True
        self.secrets = not is_plain
        return ConfigureResponse(
            accept_secrets=self.secrets,
            supports_preview=not is_plain,
            accept_resources=self.secrets,
            accept_outputs=self.secrets,
        )

    async def check(self, request):
        news, failures = dict(request.new_inputs), []
        if "name" not in news:
            old = request.old_inputs.get("name")
            news["name"] = old or PropertyValue(f"{request.name}-{request.random_seed.hex()[:7]}")
        news.setdefault("size", PropertyValue(1.0))
        size = plain(news["size"])
        if isinstance(size, (int, float)) and size < 0:
            failures.append(CheckFailure("size", "the size must not be negative"))
        for key, tag in (plain(news["tags"]) if "tags" in news and not unknown(news["tags"]) else {}).items():
            if tag == "":
                failures.append(CheckFailure(f'tags["{key}"]', "a tag must not be empty"))
        if text(news, "fail") == "exit-check":
            exit_in("check")
        if text(news, "fail") == "check":
            failures.append(CheckFailure("", "the shop is closed"))
        return CheckResponse(inputs=news, failures=failures)

    async def diff(self, request):
        detailed, replaces = {}, []
        if text(request.new_inputs, "fail") == "exit-diff":
            exit_in("diff")
        names = [name for name in INPUTS if name in request.old_state or name in request.new_inputs]
        for name in names:
            old, new = request.old_state.get(name), request.new_inputs.get(name)
            if name in request.ignore_changes or (old is not None and new is not None and plain(old) == plain(new)):
                continue
            change = "ADD" if old is None else "DELETE" if new is None else "UPDATE"
            if name in ("shape", "slot"):
                replaces.append(name)
                change += "_REPLACE"
            detailed[name] = PropertyDiff(PropertyDiffKind[change], True)
        return DiffResponse(
            changes=bool(detailed),
            replaces=replaces,
            delete_before_replace="slot" in replaces,
            detailed_diff=detailed,
        )

    def path(self, item):
        return os.path.join(self.folder, f"{item}.json")

    def all(self):
        for file in sorted(os.listdir(self.folder)):
            if file.endswith(".json"):
                with open(os.path.join(self.folder, file), encoding="utf-8") as content:
                    yield json.load(content)

    def load(self, item):
        try:
            with open(self.path(item), encoding="utf-8") as content:
                return json.load(content)
        except FileNotFoundError:
            return None

    def store(self, item):
        handle, path = tempfile.mkstemp(dir=self.folder)
        with os.fdopen(handle, "w", encoding="utf-8") as content:
            json.dump(item, content)
        os.replace(path, self.path(item["id"]))

    def outputs(self, inputs, item):
        """The outputs of an item; `None` for what is not known yet."""
        outputs = dict(inputs)
        known = [name for name in ("label", "size") if name in inputs and unknown(inputs[name])] == []
        digest = hashlib.sha256(json.dumps([text(inputs, "label"), text(inputs, "size")]).encode()).hexdigest()
        outputs["digest"] = PropertyValue(digest if known else UNKNOWN)
        key = PropertyValue("key-" + item["id"] if item.get("id") else UNKNOWN)
        outputs["key"] = key.with_secret(True) if self.secrets else key
        for name in ("serial", "revision"):
            outputs[name] = PropertyValue(UNKNOWN if item.get(name) is None else float(item[name]))
        return outputs

    async def trouble(self, inputs, operation, after=False):
        wait = text(inputs, "waitAfter" if after else "waitBefore")
        if wait:
            await asyncio.sleep(wait)
        fail = text(inputs, "fail")
        if fail == ("exit-after-" if after else "exit-") + operation:
            exit_in(operation)
        if fail == operation and not after:
            raise Exception(f"the {operation} fails")

    async def create(self, request):
        inputs = request.properties
        if request.preview:
            if text(inputs, "fail") == "exit-preview":
                exit_in("preview")
            return CreateResponse(properties=self.outputs(inputs, {"revision": 0}))
        await self.trouble(inputs, "create")
        slot = text(inputs, "slot")
        if slot and any(item["inputs"].get("slot") == slot for item in self.all()):
            raise Exception(f"slot {slot} is taken")
        self.serial += 1
        item = {"id": uuid.uuid4().hex, "serial": self.serial, "revision": 0, "urn": request.urn}
        item["inputs"] = {name: plain(value) for name, value in inputs.items()}
        self.store(item)
        await self.trouble(inputs, "create", after=True)
        return CreateResponse(item["id"], self.outputs(inputs, item))

    async def update(self, request):
        inputs = request.news
        if request.preview:
            return UpdateResponse(self.outputs(inputs, {"id": request.resource_id, "serial": text(request.olds, "serial")}))
        await self.trouble(inputs, "update")
        item = self.load(request.resource_id)
        if item is None:
            raise Exception("the item does not exist")
        item["inputs"] = {name: plain(value) for name, value in inputs.items()}
        item["revision"] += 1
        self.store(item)
        await self.trouble(inputs, "update", after=True)
        return UpdateResponse(self.outputs(inputs, item))

    async def read(self, request):
        item = self.load(request.resource_id)
        if item is None:
            return ReadResponse()
        if item["inputs"].get("fail") == "exit-read":
            exit_in("read")
        if item["inputs"].get("fail") == "read":
            raise Exception("the read fails")
        inputs = {name: wrap(value) for name, value in item["inputs"].items()}
        if "password" in inputs and self.secrets:
            inputs["password"] = inputs["password"].with_secret(True)
        return ReadResponse(item["id"], self.outputs(inputs, item), inputs)

    async def delete(self, request):
        await self.trouble(request.properties, "delete")
        with open(os.path.join(self.folder, "deleted"), "a", encoding="utf-8") as log:
            log.write(f"{request.urn}\n")
        try:
            os.remove(self.path(request.resource_id))
        except FileNotFoundError:
            pass
        await self.trouble(request.properties, "delete", after=True)

    async def invoke(self, request):
        if request.tok != "shop:index:getItem":
            raise Exception(f"there is no function {request.tok}")
        name = text(request.args, "name")
        if name == "exit-invoke":
            exit_in("invoke")
        for item in self.all():
            if item["inputs"].get("name") == name:
                found = {"id": item["id"], "label": item["inputs"].get("label"), "size": item["inputs"]["size"]}
                return InvokeResponse({key: wrap(value) for key, value in found.items()})
        return InvokeResponse(failures=[CheckFailure("name", "there is no such item")])


if __name__ == "__main__":
    if "SHOP_STARTS" in os.environ:
        with open(os.environ["SHOP_STARTS"], "a", encoding="utf-8") as file:
            print(os.getpid(), file=file)
    main(sys.argv[1:], "0.1.0", Shop())
