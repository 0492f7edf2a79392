"""Filters for pages: inert text, ages, and icons with their words."""

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from densemem.core.inert import pieces, visible

register = template.Library()

STEPS = ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min"))


@register.filter
def inert(text: object) -> SafeString:
    """Escape a text that somebody else wrote and box each character that cannot be seen."""
    return format_html_join("", "{}", ((_piece(p.text, p.glyph, p.title),) for p in pieces(str(text))))


@register.filter
def inert_words(text: object) -> str:
    """Return somebody else's text for a place that holds no markup, such as a page title."""
    return visible(str(text))


@register.filter
def age(moment: datetime) -> str:
    """Return how long ago a moment was, in its largest whole unit."""
    passed = timezone.now() - moment
    return next((f"{passed // unit} {word}" for unit, word in STEPS if passed >= unit), "now")


@register.filter
def initials(name: str) -> str:
    """Return up to two letters that stand for a profile."""
    words = [word for word in name.replace("-", " ").replace("_", " ").split() if word]
    letters = "".join(word[0] for word in words[:2]).upper()
    return visible(letters) or "?"


@register.filter
def words(code: object) -> str:
    """Return a closed word for reading: `needs_review` becomes "needs review"."""
    return str(code).replace("_", " ")


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """Draw an icon of the sprite; with a label it speaks, without one it is decoration."""
    if label:
        return format_html('<svg class="ico" role="img" aria-label="{}"><use href="#i-{}"/></svg>', label, name)
    return format_html('<svg class="ico" aria-hidden="true"><use href="#i-{}"/></svg>', name)


def _piece(text: str, glyph: str, title: str) -> SafeString:
    if not glyph:
        return format_html("{}", text)
    return format_html('<span class="glyph" title="{}">{}</span>', title, glyph)
