"""The addresses: the toolkit's, the login of Django with the template of its administration, and that administration."""

from django.contrib import admin
from django.contrib.auth.views import LoginView
from django.urls import include, path

urlpatterns = [
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("login/", LoginView.as_view(template_name="admin/login.html"), name="login"),
    path("admin/", admin.site.urls),
]
