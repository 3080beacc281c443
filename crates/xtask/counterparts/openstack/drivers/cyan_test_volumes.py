"""A volume driver of Cinder that stores nothing.

Each operation succeeds, but a volume whose name begins with `fail-` ends in the status `error`.
"""
from cinder import exception
from cinder.volume import driver


class EmptyVolumes(driver.VolumeDriver):
    VERSION = "1"

    def do_setup(self, context):
        pass

    def check_for_setup_error(self):
        pass

    def create_volume(self, volume):
        self._check_name(volume)

    def create_volume_from_snapshot(self, volume, snapshot):
        self._check_name(volume)

    def create_cloned_volume(self, volume, src_vref):
        self._check_name(volume)

    def clone_image(self, context, volume, image_location, image_meta, image_service):
        # Without this answer Cinder copies the image, for which it needs qemu-img.
        self._check_name(volume)
        return {}, True

    def copy_image_to_volume(self, context, volume, image_service, image_id, disable_sparse=False):
        pass

    def copy_volume_to_image(self, context, volume, image_service, image_meta):
        pass

    def delete_volume(self, volume):
        pass

    def extend_volume(self, volume, new_size):
        pass

    def create_snapshot(self, snapshot):
        pass

    def delete_snapshot(self, snapshot):
        pass

    def ensure_export(self, context, volume):
        pass

    def create_export(self, context, volume, connector):
        pass

    def remove_export(self, context, volume):
        pass

    def initialize_connection(self, volume, connector, **others):
        return {"driver_volume_type": "fake", "data": {"access_mode": "rw"}}

    def terminate_connection(self, volume, connector, **others):
        pass

    def get_volume_stats(self, refresh=False):
        pool = {
            "pool_name": "empty",
            "total_capacity_gb": "infinite",
            "free_capacity_gb": "infinite",
            "reserved_percentage": 0,
            "QoS_support": False,
            "multiattach": True,
            "thin_provisioning_support": True,
        }
        self._stats = {
            "volume_backend_name": "empty",
            "vendor_name": "cyan",
            "driver_version": self.VERSION,
            "storage_protocol": "fake",
            "pools": [pool],
        }
        return self._stats

    @staticmethod
    def _check_name(volume):
        if (volume.display_name or "").startswith("fail-"):
            raise exception.VolumeBackendAPIException(data="the name asks for a failure")
