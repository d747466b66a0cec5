"""Asks a registry everything there is to ask, and prints the answers as JSON.

The API is learnt by reflection, so nothing of ours is used but the address.
"""

import json
import sys

import grpc
from google.protobuf import json_format, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

channel = grpc.insecure_channel(sys.argv[1])
pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
told = {}


def services(version):
    """Lists the services; the two versions of reflection are the same bytes under two names."""
    ask = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    request = reflection_pb2.ServerReflectionRequest(list_services="*")
    answer = next(ask(iter([request])))
    names = [service.name for service in answer.list_services_response.service]
    return sorted(name for name in names if not name.startswith("grpc.reflection"))


def call(name, fields, service="api.Registry", **options):
    """Makes a call and returns its message, or all of its messages."""
    method = pool.FindServiceByName(service).methods_by_name[name]
    request = message_factory.GetMessageClass(method.input_type)(**fields)
    answer = message_factory.GetMessageClass(method.output_type)
    kind = channel.unary_stream if method.server_streaming else channel.unary_unary
    answers = kind(
        f"/{service}/{name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=answer.FromString,
    )(request, timeout=30, **options)
    return list(answers) if method.server_streaming else answers


def bundle(name, fields):
    found = call(name, fields)
    told[name] = [found.csvName, len(found.object), found.replaces, list(found.skips)]


def entries(name, fields):
    found = call(name, fields)
    return [[entry.channelName, entry.bundleName, entry.replaces] for entry in found]


for version in ["v1", "v1alpha"]:
    told[f"services {version}"] = services(version)

health = health_pb2_grpc.HealthStub(channel)
status = health_pb2.HealthCheckResponse.ServingStatus.Name
asked = [health_pb2.HealthCheckRequest(service=name) for name in ["", "Registry", "other"]]
told["health"] = [status(health.Check(request).status) for request in asked]
watch = health.Watch(asked[0])
told["watch"] = status(next(watch).status)
watch.cancel()

api = {"group": "crane.example.com", "version": "v1", "kind": "Crane"}
stable = {"pkgName": "crane", "channelName": "stable"}
told["ListPackages"] = [package.name for package in call("ListPackages", {})]
package = call("GetPackage", {"name": "crane"})
told["GetPackage"] = {
    "channels": [[channel.name, channel.csvName] for channel in package.channels],
    "default": package.defaultChannelName,
}
bundle("GetBundle", {**stable, "csvName": "crane.v1"})
bundle("GetBundleForChannel", stable)
bundle("GetBundleThatReplaces", {**stable, "csvName": "crane.v1"})
bundle("GetDefaultBundleThatProvides", api)
told["GetChannelEntriesThatReplace"] = entries(
    "GetChannelEntriesThatReplace", {"csvName": "crane.v0"}
)
told["GetChannelEntriesThatProvide"] = len(entries("GetChannelEntriesThatProvide", api))
told["GetLatestChannelEntriesThatProvide"] = entries("GetLatestChannelEntriesThatProvide", api)
told["ListBundles"] = [[found.channelName, found.csvName] for found in call("ListBundles", {})]
told["gzip"] = call("GetPackage", {"name": "crane"}, compression=grpc.Compression.Gzip).name

experimental = (
    "ExperimentalListPackageCustomSchemas",
    {"schema": "example.lifecycle", "packageName": "crane"},
    "api.ExperimentalRegistry",
)
told["experimental without header"] = len(call(*experimental))
found = call(*experimental, metadata=[("x-acknowledge-experimental", "true")])
told["experimental"] = [json_format.MessageToDict(document) for document in found]
try:
    call("GetPackage", {"name": "ship"})
except grpc.RpcError as error:
    told["refused"] = [error.code().name, error.details()]

print(json.dumps(told))
