"""The provider `sim` of the recorded sequences, on the bare gRPC stubs. It keeps its world as JSON in a folder.

    sim.py SCHEMA

A line on the standard input names the folder for the calls that follow; the answer is a line `ready`. The file
`world.json` maps ids to things, `counters.json` names to the number of things made, and each call that reads or changes
the world is a line of `calls.jsonl`.
"""

import concurrent.futures
import json
import os
import sys
import threading

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def plain(value):
    """A value without the marks of secrets."""
    if isinstance(value, dict):
        if value.get(SIGNATURE) == SECRET:
            return plain(value.get("value"))
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def fields(struct):
    return json_format.MessageToDict(struct)


def struct(values):
    made = struct_pb2.Struct()
    made.update(values)
    return made


def fail(context, code, message, detail=None):
    if detail is not None:
        status = status_pb2.Status(code=code.value[0], message=message)
        status.details.add().Pack(detail)
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, message)


class Sim(provider_pb2_grpc.ResourceProviderServicer):
    def __init__(self, schema):
        self.schema = schema
        self.lock = threading.RLock()
        self.folder = None

    def load(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return {}
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def save(self, name, values):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            json.dump(values, file)

    def note(self, method, urn, id=None):
        with open(os.path.join(self.folder, "calls.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps({"method": method, "urn": urn, "id": id}) + "\n")

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="1.0.0")

    def GetSchema(self, request, context):
        return provider_pb2.GetSchemaResponse(schema=self.schema)

    def CheckConfig(self, request, context):
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request, context):
        old, new = plain(fields(request.old_inputs or request.olds)), plain(fields(request.news))
        changed = [name for name in sorted({*old, *new} - {"version"}) if old.get(name) != new.get(name)]
        some = provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(
            changes=some, diffs=changed, replaces=[name for name in changed if name == "region"]
        )

    def Configure(self, request, context):
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, acceptResources=True, acceptOutputs=False
        )

    def Check(self, request, context):
        olds, news = fields(request.olds), fields(request.news)
        failures = []
        if "invalid" in news:
            failures.append(provider_pb2.CheckFailure(property="invalid", reason=str(plain(news["invalid"]))))
        news.setdefault("mode", "fast")
        if "label" not in news:
            news["label"] = olds.get("label") or request.urn.split("::")[-1] + "-auto"
        return provider_pb2.CheckResponse(inputs=struct(news), failures=failures)

    def Diff(self, request, context):
        if "Vague" in request.urn.split("::")[2].split("$")[-1]:
            return provider_pb2.DiffResponse()
        old = plain(fields(request.old_inputs if request.HasField("old_inputs") else request.olds))
        new = plain(fields(request.news))
        detailed, replaces, first = {}, [], False
        for name in sorted({*old, *new}):
            if name in request.ignoreChanges or old.get(name) == new.get(name) and (name in old) == (name in new):
                continue
            kind = "ADD" if name not in old else "DELETE" if name not in new else "UPDATE"
            if name in ("zone", "dbrZone"):
                kind += "_REPLACE"
                replaces.append(name)
                first = first or name == "dbrZone"
            kind = provider_pb2.PropertyDiff.Kind.Value(kind)
            detailed[name] = provider_pb2.PropertyDiff(kind=kind, inputDiff=True)
        some = provider_pb2.DiffResponse.DIFF_SOME if detailed else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(
            changes=some,
            diffs=sorted(detailed),
            replaces=replaces,
            deleteBeforeReplace=first,
            detailedDiff=detailed,
            hasDetailedDiff=True,
        )

    def outputs(self, id, thing):
        values = dict(thing["inputs"], arn=f"arn:{id}", rev=thing["rev"])
        if "password" in values:
            values["password"] = {SIGNATURE: SECRET, "value": plain(values["password"])}
        return struct(values)

    def unready(self, context, id, thing):
        """Reports that a thing exists but is not initialised, if its inputs say so."""
        reason = plain(thing["inputs"]).get("failInit")
        if reason is None:
            return
        failed = provider_pb2.ErrorResourceInitFailed(
            id=id, properties=self.outputs(id, thing), inputs=struct(thing["inputs"]), reasons=[reason]
        )
        fail(context, grpc.StatusCode.UNKNOWN, reason, failed)

    def Create(self, request, context):
        inputs = fields(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(properties=struct(dict(inputs, arn=UNKNOWN, rev=UNKNOWN)))
        name = request.urn.split("::")[-1]
        with self.lock:
            if "failCreate" in inputs:
                self.note("Create", request.urn)
                fail(context, grpc.StatusCode.INVALID_ARGUMENT, plain(inputs["failCreate"]))
            counters, world = self.load("counters.json"), self.load("world.json")
            counters[name] = counters.get(name, 0) + 1
            id = f"{name}-{counters[name]}"
            self.note("Create", request.urn, id)
            kind = request.urn.split("::")[2].split("$")[-1]
            world[id] = {"type": kind, "inputs": inputs, "rev": 1}
            self.save("counters.json", counters)
            self.save("world.json", world)
            thing = world[id]
        self.unready(context, id, thing)
        return provider_pb2.CreateResponse(id=id, properties=self.outputs(id, thing))

    def Update(self, request, context):
        inputs = fields(request.news)
        if request.preview:
            outputs = dict(inputs, arn=f"arn:{request.id}", rev=UNKNOWN)
            return provider_pb2.UpdateResponse(properties=struct(outputs))
        with self.lock:
            self.note("Update", request.urn, request.id)
            if "failUpdate" in inputs:
                fail(context, grpc.StatusCode.INVALID_ARGUMENT, plain(inputs["failUpdate"]))
            world = self.load("world.json")
            thing = world.get(request.id)
            if thing is None:
                kind = request.urn.split("::")[2].split("$")[-1]
                thing = {"type": kind, "rev": 0}
            thing = dict(thing, inputs=inputs, rev=thing["rev"] + 1)
            world[request.id] = thing
            self.save("world.json", world)
        self.unready(context, request.id, thing)
        return provider_pb2.UpdateResponse(properties=self.outputs(request.id, thing))

    def Delete(self, request, context):
        old = request.old_inputs if request.HasField("old_inputs") else request.properties
        with self.lock:
            self.note("Delete", request.urn, request.id)
            reason = plain(fields(old)).get("failDelete")
            if reason is not None:
                fail(context, grpc.StatusCode.INVALID_ARGUMENT, reason)
            world = self.load("world.json")
            world.pop(request.id, None)
            self.save("world.json", world)
        return empty_pb2.Empty()

    def Read(self, request, context):
        with self.lock:
            self.note("Read", request.urn, request.id)
            thing = self.load("world.json").get(request.id)
        if thing is None:
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(
            id=request.id, properties=self.outputs(request.id, thing), inputs=struct(thing["inputs"])
        )

    def Invoke(self, request, context):
        if request.tok.endswith("fails"):
            fail(context, grpc.StatusCode.INVALID_ARGUMENT, "this function fails")
        values = dict(fields(request.args), result="echo")
        return getattr(provider_pb2, "InvokeResponse")(**{"return": struct(values)})

    def Attach(self, request, context):
        return empty_pb2.Empty()

    def Cancel(self, request, context):
        return empty_pb2.Empty()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        sim = Sim(file.read())
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=8))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(sim, server)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    for line in sys.stdin:
        sim.folder = line.strip()
        print("ready", flush=True)
    server.stop(0)


if __name__ == "__main__":
    main()
