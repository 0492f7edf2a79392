"""All settings, read from the environment (or `.env` beside manage.py). With none set, everything works offline.

DENSEMEM_HOME          folder of the embedded database, its sockets and secrets  (default: .densemem)
DATABASE_URL           PostgreSQL 16+ with pgvector 0.8+, as the application's role  (default: the embedded server)
DATABASE_OWNER_URL     the same database as the role that owns the tables; only migrations use it
DENSEMEM_PROVIDER      rules | anthropic | scripted  (default: anthropic if ANTHROPIC_API_KEY is set, else rules)
ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL
MODEL_PRICES           model=in/out,...  in US dollars for a million tokens; without it no cost is known
DENSEMEM_WORKERS       worker processes that may drain at once  (default: 2)
DENSEMEM_CONCURRENCY   items that one of them works on at once, 1 to 64  (default: 8; 1 with the offline reviewer)
SECRET_KEY, DEBUG, ALLOWED_HOSTS, CSRF_TRUSTED_ORIGINS
"""

from pathlib import Path

import environ

from densemem.db import server
from densemem.providers.prices import read_prices

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
env.read_env(BASE_DIR / ".env")

DENSEMEM_HOME = Path(env.str("DENSEMEM_HOME", default=str(BASE_DIR / ".densemem")))
# Keys the digests of stored texts: without it nobody can test a guess against them.
CONTENT_KEY = env.str("CONTENT_KEY", default="") or server.kept_secret(DENSEMEM_HOME, "content")
DEBUG = env.bool("DEBUG", default=False)
# One secret is kept with the embedded database, so that a first start needs no configuration.
SECRET_KEY = env.str("SECRET_KEY", default="") or server.kept_secret(DENSEMEM_HOME, "django")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "densemem",
    "evidence",
    "entities",
    "relationships",
    "review",
    "placement",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "pgtrigger",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "django_q",
    "django_htmx",
]

MIDDLEWARE = [
    "densemem.http.RequestFrame",
    "densemem.headers.ConsoleHeaders",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "densemem.urls"
ASGI_APPLICATION = "densemem.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# `default` is the application's role: it owns no table. `owner` is used by `migrate` alone.
DATABASES = server.databases(
    home=DENSEMEM_HOME,
    url=env.str("DATABASE_URL", default=""),
    owner_url=env.str("DATABASE_OWNER_URL", default=""),
)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DENSEMEM_HOME / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # whitenoise serves from the finders, and wants the folder to be there
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
SECURE_COOKIES = env.bool("SECURE_COOKIES", default=False)  # true behind TLS
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_COOKIES
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["densemem.auth.TokenDoor", "densemem.auth.SessionDoor"],
    "DEFAULT_PERMISSION_CLASSES": ["densemem.auth.HasPrincipal"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["densemem.http.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "densemem.http.problem_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
REST_KNOX = {
    "TOKEN_MODEL": "densemem.AccessToken",
    "TOKEN_PREFIX": "dm_",
    "TOKEN_TTL": None,
    "AUTH_HEADER_PREFIX": "Bearer",
}
KNOX_TOKEN_MODEL = "densemem.AccessToken"
SPECTACULAR_SETTINGS = {"TITLE": "Dense-Mem", "VERSION": "0.1.0", "OAS_VERSION": "3.1.1", "SERVE_INCLUDE_SCHEMA": False}

# django-q2 only wakes: the queue of record is placement's own rows.
Q_CLUSTER = {
    "name": "densemem",
    "orm": "default",
    "workers": env.int("DENSEMEM_WORKERS", default=2),
    # Far above a drain whose last item takes its bounded tries to the end; leases free items much sooner.
    "timeout": 2 * 3600,
    "retry": 3 * 3600,
    "max_attempts": 1,
    "poll": 0.5,
    "catch_up": False,
    "save_limit": 50,
    "label": "Wake-ups",
}

ANTHROPIC_API_KEY = env.str("ANTHROPIC_API_KEY", default="")
ANTHROPIC_BASE_URL = env.str("ANTHROPIC_BASE_URL", default="")
ANTHROPIC_MODEL = env.str("ANTHROPIC_MODEL", default="claude-sonnet-4-5")
DENSEMEM_CONCURRENCY = env.str("DENSEMEM_CONCURRENCY", default="")
MODEL_PRICES = read_prices(env.str("MODEL_PRICES", default=""))
DENSEMEM_PROVIDER = env.str("DENSEMEM_PROVIDER", default="anthropic" if ANTHROPIC_API_KEY else "rules")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
}
