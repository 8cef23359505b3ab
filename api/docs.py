"""Docs: Swagger UI from the installed package, so that no other host is asked."""

from flask_swagger_ui import get_swaggerui_blueprint

blueprint = get_swaggerui_blueprint(
    "/docs",
    "/openapi.json",
    config={"app_name": "graphmem", "validatorUrl": None, "deepLinking": True},
)
