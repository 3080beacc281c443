"""A mechanism driver of Neutron's ML2 plugin for a cloud without agents.

Binds each port that has a host to its first segment, at once and as ACTIVE. Moves no packet.
"""
from neutron.services.trunk.drivers import base
from neutron_lib.api.definitions import portbindings
from neutron_lib.plugins.ml2 import api
from neutron_lib.services.trunk import constants as trunk


class Trunks(base.DriverBase):
    """Accepts every trunk. Neutron does not start its trunk plugin without such a driver."""

    @property
    def is_loaded(self):
        return True


class Binding(api.MechanismDriver):
    def initialize(self):
        self.details = {portbindings.CAP_PORT_FILTER: True}
        self.trunks = Trunks(
            "cyan_test",
            (portbindings.VIF_TYPE_OVS,),
            (trunk.SEGMENTATION_TYPE_VLAN,),
            agent_type=None,
            can_trunk_bound_port=True,
        )

    @property
    def connectivity(self):
        return portbindings.CONNECTIVITY_L2

    def bind_port(self, context):
        segments = context.segments_to_bind
        if segments:
            context.set_binding(
                segments[0][api.ID],
                portbindings.VIF_TYPE_OVS,
                self.details,
                status="ACTIVE",
            )
