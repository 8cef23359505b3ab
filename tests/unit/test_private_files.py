"""What lies in the data folder is nobody else's."""

from graphmem.database import admin_key
from graphmem.settings import load_settings


def test_the_data_folder_and_the_admin_key_are_private_also_when_they_were_there_before(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    (folder / "admin.key").write_text("gm_" + "k" * 40)
    (folder / "admin.key").chmod(0o644)

    key = admin_key(load_settings({"GRAPHMEM_DATA_DIR": str(folder)}))

    assert "gm_" + "k" * 40 == key
    assert (0o700, 0o600) == tuple(
        path.stat().st_mode & 0o777 for path in (folder, folder / "admin.key")
    )


def test_a_new_admin_key_is_private(tmp_path):
    folder = tmp_path / "new" / "data"

    admin_key(load_settings({"GRAPHMEM_DATA_DIR": str(folder)}))

    assert (0o700, 0o600) == tuple(
        path.stat().st_mode & 0o777 for path in (folder, folder / "admin.key")
    )
