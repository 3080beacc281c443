"""Plays the recorded conversations of the language conformance tests, as providers on the bare gRPC stubs.

    player.py FOLDER

FOLDER has a file `NAME-VERSION.json` with the schema of each package. A line on the standard input is a JSON list with
the name of a file and the number of a run in it; the answer is a line with a JSON map from `NAME-VERSION` to the port of
that provider. A call is answered as the call with the same method, URN or token, and inputs was answered in the record.
"""

import concurrent.futures
import json
import os
import re
import sys

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
MARKS = {
    "$asset": "c44067f5952c0a294b673a41bacd8c17",
    "$archive": "0def7320c3a5731c473e5ecbe6d01bc7",
    "$ref": "5cf8f73096256a8f31e491e813e4eb8e",
}


def encode(value):
    """A value of the record as a plugin sends it."""
    if isinstance(value, list):
        return [encode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$secret" in value:
        return {SIGNATURE: SECRET, "value": encode(value["$secret"])}
    if value.get("$unknown"):
        return UNKNOWN
    for mark, signature in MARKS.items():
        if mark in value:
            return {SIGNATURE: signature, **encode(value[mark])}
    return {key: encode(item) for key, item in value.items()}


def plain(value):
    """A value of the record or of a call, without the marks of secrets, in one notation."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return float(value)
    if value == UNKNOWN:
        return {"$unknown": True}
    if not isinstance(value, dict):
        return value
    if "$secret" in value:
        return plain(value["$secret"])
    kind = value.get(SIGNATURE)
    if kind == SECRET:
        return plain(value.get("value"))
    members = {key: plain(item) for key, item in value.items() if key != SIGNATURE}
    for mark, signature in MARKS.items():
        if kind == signature:
            return {mark: essential(members)}
    if "$ref" in members or "$asset" in members or "$archive" in members:
        mark, inner = next(iter(members.items()))
        return {mark: essential(inner)}
    return members


def essential(members):
    """The members of an asset, archive or reference that do not follow from others: the record has the hash of an asset
    only where it was computed, and a reference may state a version."""
    derived = ("hash", "packageVersion")
    return {key: item for key, item in members.items() if item != "" and key not in derived}


def same(recorded, given):
    """Whether a value is the recorded one. An unknown may stand for a list or map that has an unknown in it."""
    if isinstance(recorded, dict) and isinstance(given, dict) and recorded.keys() == given.keys():
        return all(same(item, given[key]) for key, item in recorded.items())
    if isinstance(recorded, list) and isinstance(given, list) and len(recorded) == len(given):
        return all(same(one, other) for one, other in zip(recorded, given))
    if recorded == {"$unknown": True}:
        return '"$unknown": true' in json.dumps(given)
    if given == {"$unknown": True}:
        return '"$unknown": true' in json.dumps(recorded)
    return recorded == given


def fields(struct):
    return json_format.MessageToDict(struct)


def struct(values):
    made = struct_pb2.Struct()
    made.update(encode(values))
    return made


class Player(provider_pb2_grpc.ResourceProviderServicer):
    def __init__(self, name, schema, calls):
        self.name = name
        self.version = re.match(r"^.+?-(\d+\.\d+\.\d+.*)$", name).group(1)
        self.schema = schema
        self.calls = calls

    def recorded(self, context, method, **given):
        """The recorded call that equals a given one in all these members."""
        given = {key: plain(value) for key, value in given.items()}
        for call in self.calls:
            if call["provider"] != self.name or call["method"] != method:
                continue
            if all(same(plain(call.get(key)), value) for key, value in given.items()):
                if "error" in call:
                    context.abort(grpc.StatusCode.UNKNOWN, call["error"])
                return call
        message = f"NOT RECORDED: {self.name} {method} {json.dumps(given, sort_keys=True)}"
        context.abort(grpc.StatusCode.UNKNOWN, message)

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version=self.version)

    def GetSchema(self, request, context):
        return provider_pb2.GetSchemaResponse(schema=self.schema)

    def CheckConfig(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request, context):
        return provider_pb2.DiffResponse()

    def Configure(self, request, context):
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, acceptResources=True, acceptOutputs=False
        )

    def Check(self, request, context):
        call = self.recorded(context, "Check", urn=request.urn, news=fields(request.news))
        failures = [provider_pb2.CheckFailure(**failure) for failure in call.get("failures", [])]
        return provider_pb2.CheckResponse(inputs=struct(call["result"]), failures=failures)

    def Diff(self, request, context):
        old = fields(request.old_inputs if request.HasField("old_inputs") else request.olds)
        call = self.recorded(context, "Diff", urn=request.urn, oldInputs=old, newInputs=fields(request.news))
        result = call["result"]
        changes = {"none": 1, "some": 2}.get(result.get("changes"), 0)
        detailed = {}
        for path, diff in (result.get("detailedDiff") or {}).items():
            kind = provider_pb2.PropertyDiff.Kind.Value(diff["kind"].upper().replace("-", "_"))
            detailed[path] = provider_pb2.PropertyDiff(kind=kind, inputDiff=bool(diff.get("inputDiff")))
        return provider_pb2.DiffResponse(
            changes=changes,
            replaces=result.get("replaceKeys") or [],
            diffs=result.get("changedKeys") or [],
            deleteBeforeReplace=bool(result.get("deleteBeforeReplace")),
            detailedDiff=detailed,
            hasDetailedDiff=bool(detailed),
        )

    def Create(self, request, context):
        given = fields(request.properties)
        call = self.recorded(context, "Create", urn=request.urn, properties=given, preview=request.preview)
        return provider_pb2.CreateResponse(id=call["id"], properties=struct(call["result"]))

    def Update(self, request, context):
        given = fields(request.news)
        call = self.recorded(
            context, "Update", urn=request.urn, id=request.id, newInputs=given, preview=request.preview
        )
        return provider_pb2.UpdateResponse(properties=struct(call["result"]))

    def Delete(self, request, context):
        self.recorded(context, "Delete", urn=request.urn, id=request.id)
        return empty_pb2.Empty()

    def Read(self, request, context):
        call = self.recorded(context, "Read", urn=request.urn, id=request.id)
        return provider_pb2.ReadResponse(
            id=call["resultID"], properties=struct(call["resultOutputs"]), inputs=struct(call["resultInputs"])
        )

    def Invoke(self, request, context):
        call = self.recorded(context, "Invoke", token=request.tok, args=fields(request.args))
        failures = [provider_pb2.CheckFailure(**failure) for failure in call.get("failures", [])]
        return provider_pb2.InvokeResponse(**{"return": struct(call["result"])}, failures=failures)

    def Attach(self, request, context):
        return empty_pb2.Empty()

    def Cancel(self, request, context):
        return empty_pb2.Empty()


def play(schemas, case, run):
    """Starts the providers of a case for a run. Returns the servers by name, with their ports."""
    calls = [call for mode in ("preview", "update") for call in run[mode].get("calls", [])]
    names = {*case.get("schemas", []), *(call["provider"] for call in calls)}
    playing = {}
    for name in sorted(names):
        path = os.path.join(schemas, f"{name}.json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            player = Player(name, file.read(), calls)
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=4))
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(player, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        playing[name] = (server, port)
    return playing


def main():
    playing = {}
    for line in sys.stdin:
        name, number = json.loads(line)
        for server, _ in playing.values():
            server.stop(0)
        with open(name, encoding="utf-8") as file:
            case = json.load(file)
        playing = play(sys.argv[1], case, case["runs"][number])
        print(json.dumps({name: port for name, (_, port) in playing.items()}), flush=True)


if __name__ == "__main__":
    main()
