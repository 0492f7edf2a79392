"""All addresses."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularJSONAPIView

from densemem import health
from review.urls import rest as reviews

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("api/v1/", include(("placement.urls", "placement"), namespace="api-placement")),
    path("api/v1/", include(("entities.urls", "entities"), namespace="api-entities")),
    path("api/v1/", include(("relationships.urls", "relationships"), namespace="api-relationships")),
    path("api/v1/", include((reviews, "review"), namespace="api-review")),
    path("api/schema", SpectacularJSONAPIView.as_view(), name="api-schema"),
    path("admin/", admin.site.urls),
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("", include("review.urls")),
]
