"""A provider on the bare gRPC stubs, for what the framework cannot say.

It records each request as a line of JSON in the file of the setting `log`, keeps its one resource in memory, and answers
by the input `do`:

    sick         the resource exists but is not healthy (create, update, read)
    code:NAME    a status with that code
    input:PATH   a status that names a property
    await        a status that says that nothing happened
    no-id, unknown, nan, deep, secret   an answer of that kind
"""

import concurrent.futures
import json
import sys
import time

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    errors_pb2,
    plugin_pb2,
    provider_pb2,
    provider_pb2_grpc,
    status_pb2,
)

OPTIONS = {name: name in sys.argv[1:] for name in ("--no-handshake", "--no-secrets", "--crlf", "--noise", "--late", "--schema")}
ENGINE = sys.argv[-1]


def fail(context, code, message, detail=None):
    if detail is not None:
        status = status_pb2.Status(code=code.value[0], message=message)
        status.details.add().Pack(detail)
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, message)


class Bare(provider_pb2_grpc.ResourceProviderServicer):
    log = None
    refusals = 2 if OPTIONS["--late"] else 0

    def record(self, method, request):
        if self.log:
            with open(self.log, "a", encoding="utf-8") as file:
                fields = json_format.MessageToDict(request, preserving_proto_field_name=True)
                file.write(json.dumps({"method": method, "request": fields}) + "\n")

    def Handshake(self, request, context):
        if OPTIONS["--no-handshake"]:
            fail(context, grpc.StatusCode.UNIMPLEMENTED, "no handshake")
        if self.refusals:
            self.refusals -= 1
            fail(context, grpc.StatusCode.UNAVAILABLE, "not ready")
        self.handshake = request
        return provider_pb2.ProviderHandshakeResponse(
            accept_secrets=not OPTIONS["--no-secrets"],
            accept_resources=True,
            accept_outputs=True,
            supports_autonaming_configuration=True,
            accepts_byte_string=True,
        )

    def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="1.2.3")

    def GetSchema(self, request, context):
        if not OPTIONS["--schema"]:
            fail(context, grpc.StatusCode.UNIMPLEMENTED, "no schema")
        any_text = {"do": {"type": "string"}, "x": {"$ref": "pulumi.json#/Any"}}
        thing = {"inputProperties": any_text, "properties": any_text}
        schema = {"name": "bare", "resources": {"bare:index:Thing": thing}}
        return provider_pb2.GetSchemaResponse(schema=json.dumps(schema))

    def Configure(self, request, context):
        settings = json_format.MessageToDict(request.args)
        if "log" not in settings:
            missing = provider_pb2.ConfigureErrorMissingKeys()
            missing.missingKeys.add(name="bare:log", description="where requests are recorded")
            fail(context, grpc.StatusCode.INVALID_ARGUMENT, "settings are missing", missing)
        self.log = settings["log"]
        if not OPTIONS["--no-handshake"]:
            self.record("Handshake", self.handshake)
        self.record("Configure", request)
        # With a handshake this answer does not count.
        return provider_pb2.ConfigureResponse(acceptSecrets=False, supportsPreview=False)

    def Check(self, request, context):
        self.record("Check", request)
        return provider_pb2.CheckResponse(inputs=request.news)

    def Diff(self, request, context):
        self.record("Diff", request)
        return provider_pb2.DiffResponse()

    def answer(self, context, properties):
        wanted = properties.fields["do"].string_value if "do" in properties.fields else ""
        if wanted == "sick":
            failed = provider_pb2.ErrorResourceInitFailed(
                id="bare-1", properties=properties, inputs=properties, reasons=["it does not answer", "it smokes"]
            )
            fail(context, grpc.StatusCode.UNKNOWN, "init failed", failed)
        if wanted.startswith("code:"):
            fail(context, grpc.StatusCode[wanted[5:]], "as you wish")
        if wanted.startswith("input:"):
            error = errors_pb2.InputPropertiesError()
            error.errors.add(property_path=wanted[6:], reason="it is wrong")
            fail(context, grpc.StatusCode.INVALID_ARGUMENT, "inputs are wrong", error)
        if wanted == "await":
            fail(context, grpc.StatusCode.UNKNOWN, "still waiting", provider_pb2.ErrorResourceAwaitFailed())
        outputs = struct_pb2.Struct()
        outputs.CopyFrom(properties)
        if wanted == "unknown":
            outputs["x"] = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
        if wanted == "nan":
            outputs["x"] = float("nan")
        if wanted == "deep":
            at = outputs.fields["x"]
            for _ in range(60):
                at = at.list_value.values.add()
            at.bool_value = True
        if wanted == "secret":
            outputs["x"] = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "hidden"}
        return ("" if wanted == "no-id" else "bare-1"), outputs

    def Create(self, request, context):
        self.record("Create", request)
        with grpc.insecure_channel(ENGINE) as channel:
            engine = engine_pb2_grpc.EngineStub(channel)
            root = engine.GetRootResource(engine_pb2.GetRootResourceRequest()).urn
            engine.Log(engine_pb2.LogRequest(severity=2, message=f"creating below {root}", urn=request.urn))
            try:
                engine.StartDebugging(engine_pb2.StartDebuggingRequest())
            except grpc.RpcError as error:
                engine.Log(engine_pb2.LogRequest(severity=0, message=error.code().name))
        id, outputs = self.answer(context, request.properties)
        return provider_pb2.CreateResponse(id=id, properties=outputs, refresh_before_update=True)

    def Update(self, request, context):
        self.record("Update", request)
        _, outputs = self.answer(context, request.news)
        return provider_pb2.UpdateResponse(properties=outputs)

    def Read(self, request, context):
        self.record("Read", request)
        id, outputs = self.answer(context, request.properties)
        return provider_pb2.ReadResponse(id=id, properties=outputs)

    def Delete(self, request, context):
        self.record("Delete", request)
        self.answer(context, request.properties)
        return empty_pb2.Empty()

    def Cancel(self, request, context):
        self.record("Cancel", request)
        return empty_pb2.Empty()


def main():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=8))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Bare(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    if OPTIONS["--noise"]:
        print("loading plugins ...\n\nready", flush=True)
        print("warning: noise", file=sys.stderr, flush=True)
    end = "\r\n" if OPTIONS["--crlf"] else "\n"
    sys.stdout.buffer.write(f"\x1b]9;4;3;\x1b\\{port}\x1b]9;4;0;\x1b\\{end}".encode())
    sys.stdout.buffer.flush()
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        server.stop(0)


if __name__ == "__main__":
    main()
