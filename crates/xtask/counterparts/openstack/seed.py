"""Fills a new cloud: `identity` needs Keystone alone, `objects` all services.

The environment names the file of the clouds (OS_CLIENT_CONFIG_FILE), the password of all users
(CLOUD_PASSWORD), and the addresses of the services as `TYPE NAME URL` lines (CLOUD_ENDPOINTS).
"""
import os
import sys

import openstack

REGION = "RegionOne"


def identity(cloud):
    keystone = cloud.identity
    password = os.environ["CLOUD_PASSWORD"]
    for line in os.environ["CLOUD_ENDPOINTS"].splitlines():
        kind, name, url = line.split()
        service = keystone.create_service(type=kind, name=name)
        for interface in ("public", "internal"):
            keystone.create_endpoint(
                service_id=service.id, interface=interface, url=url, region_id=REGION
            )
    roles = {role.name: role for role in keystone.roles()}
    for name in ("service", "heat_stack_user", "heat_stack_owner", "load-balancer_member"):
        roles[name] = roles.get(name) or keystone.create_role(name=name)
    # One user for all services, and a user without rights over the cloud.
    for user_name, project_name, role_names in (
        ("services", "service", ("admin", "service")),
        ("demo", "demo", ("member", "heat_stack_owner", "load-balancer_member")),
    ):
        project = keystone.create_project(name=project_name, domain_id="default")
        user = keystone.create_user(name=user_name, password=password, domain_id="default")
        for name in role_names:
            keystone.assign_project_role_to_user(project, user, roles[name])
    # Heat creates the users of stacks in a domain of its own.
    domain = keystone.create_domain(name="heat")
    admin = keystone.create_user(
        name="heat_domain_admin", password=password, domain_id=domain.id
    )
    keystone.assign_domain_role_to_user(domain, admin, roles["admin"])


def objects(cloud):
    for name, ram, disk in (("m1.nano", 64, 1), ("m1.tiny", 512, 1), ("m1.small", 2048, 20)):
        cloud.compute.create_flavor(name=name, vcpus=1, ram=ram, disk=disk)
    cloud.create_image(
        "cirros",
        data=b"\0" * 4096,
        disk_format="raw",
        container_format="bare",
        visibility="public",
        wait=True,
    )
    public = cloud.network.create_network(
        name="public",
        is_router_external=True,
        provider_network_type="flat",
        provider_physical_network="public",
    )
    cloud.network.create_subnet(
        name="public-subnet",
        network_id=public.id,
        ip_version=4,
        cidr="203.0.113.0/24",
        is_dhcp_enabled=False,
    )
    cloud.block_storage.create_type(
        name="empty", extra_specs={"volume_backend_name": "empty"}
    )


if __name__ == "__main__":
    {"identity": identity, "objects": objects}[sys.argv[1]](openstack.connect(cloud="admin"))
