"""``python -m api``: the HTTP API, served by threads."""

import os

from api.server import serve
from graphmem.logs import set_up_logs
from graphmem.settings import load_settings

if __name__ == "__main__":
    settings = load_settings(os.environ)
    set_up_logs(settings.server.log)
    serve(settings)
