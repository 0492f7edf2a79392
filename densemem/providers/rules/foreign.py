"""A few plain sentence forms of other languages. They are strict: no free words, no negation, no adverbs."""

from collections.abc import Iterator

from densemem.providers.rules.forms import Form, framed, slotted

_DE = r"\s+(?:(?:der|die|das|dem|den|ein|eine|einem)\s+)?"
_DE_NAME = r"\s+(?:(?:der|die|das|dem|den)\s+)?(?:Projekt\s+|Firma\s+)?"
_FR = r"\s+(?:(?:le|la|les|un|une)\s+|l['’])?"
_ES = r"\s+(?:(?:el|la|los|las|un|una)\s+)?"
_AR = r"\s+"


def foreign() -> Iterator[Form]:
    """Return the patterns of all other languages."""
    for maker in (_german, _french, _spanish, _russian, _hindi, _chinese, _japanese, _arabic):
        yield from maker()


def _between(rows: tuple[tuple[str, str, bool], ...], right: str) -> Iterator[Form]:
    """Make patterns of (key, phrase between the names, object first)."""
    for key, phrase, flip in rows:
        yield framed(key, "", rf"\s+{phrase}{right}", "", phrase.replace(r"\s+", " "), flip=flip)


def _german() -> Iterator[Form]:
    """German main clauses."""
    rows = (
        ("works_for", "arbeitet bei", False),
        ("works_for", "arbeitet für", False),
        ("leads", "leitet", False),
        ("lives_in", "wohnt in", False),
        ("lives_in", "lebt in", False),
        ("uses", "verwendet", False),
        ("uses", "nutzt", False),
        ("uses", "benutzt", False),
        ("depends_on", "braucht", False),
        ("owns", "ist zuständig für", False),
        ("owns", "ist verantwortlich für", False),
        ("works_on", "arbeitet an", False),
        ("written_in", "ist geschrieben in", False),
        ("replaces", "ersetzt", False),
        ("reports_to", "berichtet an", False),
        ("speaks", "spricht", False),
        ("subsidiary_of", "ist eine Tochter von", False),
        ("subsidiary_of", "ist eine Tochtergesellschaft von", False),
        ("part_of", "ist Teil von", False),
        ("integrates_with", "ist verbunden mit", False),
        ("founded", "gründete", False),
        ("joined", "kam zu", False),
        ("married_to", "ist verheiratet mit", False),
        ("maintains", "pflegt", False),
    )
    yield from _between(rows, _DE_NAME)
    for verb in ("wird", "ist"):
        yield framed("leads", "", rf"\s+{verb}\s+von{_DE_NAME}", r"\s+geleitet\b", "wird geleitet von", flip=True)
    yield framed("written_in", "", rf"\s+ist\s+in{_DE}", r"\s+geschrieben\b", "ist in … geschrieben")
    yield framed("member_of", "", r"\s+ist\s+Mitglied\s+(?:von|der|des|im|in)\s+(?:der\s+)?", "", "ist Mitglied von")
    yield framed(
        "headquartered_in", "", r"\s+hat\s+(?:seinen|ihren)\s+(?:Haupt)?[Ss]itz\s+in\s+", "", "hat seinen Sitz in"
    )
    yield framed(
        "headquartered_in",
        r"Der\s+(?:Haupt)?sitz\s+(?:von|der)\s+",
        r"\s+(?:ist|liegt|befindet\s+sich)\s+in\s+",
        "",
        "der Sitz ist in",
    )
    yield framed("due_on", "", r"\s+ist\s+(?:bis\s+zum|am)\s+", r"\s+fällig\b", "ist fällig am")
    yield framed(
        "takes_place_on", "", r"\s+findet\s+am\s+", r"(?:\s+in\s+\p{Lu}[\p{L}-]+)?\s+statt\b", "findet statt am"
    )
    yield framed(
        "takes_place_in",
        "",
        r"\s+findet\s+(?:am\s+[^,;.]{0,4}\.?\s?\p{L}+\s+\d{4}\s+)?in\s+",
        r"\s+statt\b",
        "findet statt in",
    )
    yield framed(
        "organizes",
        r"Organisiert\s+wird\s+(?:(?:der|die|das)\s+)?",
        rf"\s+(?:vom|von){_DE_NAME}",
        "",
        "organisiert wird von",
        flip=True,
    )
    yield framed("uses", "", rf"\s+(?:verwendet|nutzt){_DE}", r"\s+nicht(?=\s*[.,!]|$)", "verwendet", negative=True)


def _french() -> Iterator[Form]:
    """French main clauses."""
    rows = (
        ("works_for", "travaille pour", False),
        ("works_for", "travaille chez", False),
        ("leads", "dirige", False),
        ("lives_in", "habite à", False),
        ("lives_in", "vit à", False),
        ("uses", "utilise", False),
        ("depends_on", "dépend de", False),
        ("subsidiary_of", "est une filiale de", False),
        ("married_to", "est marié avec", False),
        ("married_to", "est mariée avec", False),
        ("married_to", "est marié à", False),
        ("married_to", "est mariée à", False),
        ("owns", "est responsable de", False),
        ("replaces", "remplace", False),
        ("joined", "a rejoint", False),
        ("left", "a quitté", False),
        ("member_of", "est membre de", False),
        ("leads", "est dirigé par", True),
        ("leads", "est dirigée par", True),
        ("works_on", "travaille sur", False),
        ("founded", "a fondé", False),
        ("acquired", "a racheté", False),
        ("customer_of", "est client de", False),
        ("written_in", "est écrit en", False),
    )
    yield from _between(rows, _FR)
    yield framed(
        "headquartered_in",
        r"Le\s+siège(?:\s+social)?\s+(?:de\s+|d['’])",
        r"\s+(?:se\s+trouve|est|est\s+situé)\s+à\s+",
        "",
        "le siège se trouve à",
    )


def _spanish() -> Iterator[Form]:
    """Spanish main clauses."""
    rows = (
        ("works_for", "trabaja en", False),
        ("works_for", "trabaja para", False),
        ("leads", "dirige", False),
        ("lives_in", "vive en", False),
        ("uses", "usa", False),
        ("uses", "utiliza", False),
        ("depends_on", "depende de", False),
        ("subsidiary_of", "es una filial de", False),
        ("owns", "es responsable de", False),
        ("replaces", "reemplaza a", False),
        ("speaks", "habla", False),
        ("customer_of", "es cliente de", False),
        ("written_in", "está escrito en", False),
        ("leads", "está dirigido por", True),
        ("member_of", "es miembro de", False),
        ("works_on", "trabaja en", False),
        ("reports_to", "reporta a", False),
        ("founded", "fundó", False),
        ("acquired", "compró", False),
    )
    yield from _between(rows, _ES)
    yield framed("married_to", "", r"\s+está\s+casad[oa]\s+con\s+", "", "está casado con")
    yield framed("headquartered_in", r"La\s+sede\s+de\s+", r"\s+está\s+en\s+", "", "la sede está en")


def _russian() -> Iterator[Form]:
    """Russian main clauses."""
    rows = (
        ("uses", "использует", False),
        ("leads", "руководит", False),
        ("works_for", "работает в", False),
        ("lives_in", "живёт в", False),
        ("lives_in", "живет в", False),
        ("depends_on", "зависит от", False),
        ("written_in", "написан на", False),
        ("written_in", "написана на", False),
        ("written_in", "написано на", False),
        ("deployed_on", "развёрнут в", False),
        ("deployed_on", "развёрнута в", False),
        ("deployed_on", "развернут в", False),
        ("replaces", "заменён на", True),
        ("replaces", "заменена на", True),
        ("replaces", "заменяет", False),
        ("blocked_by", "заблокирован", False),
        ("blocked_by", "заблокирована", False),
    )
    yield from _between(rows, r"\s+")


def _hindi() -> Iterator[Form]:
    """Hindi: the verb closes the sentence."""
    yield framed("lives_in", "", r"\s+", r"\s+में\s+(?:रहते|रहती|रहता)\s+(?:हैं|है|हूँ)", "में रहते हैं")
    yield framed("speaks", "", r"\s+", r"\s+(?:बोलते|बोलती|बोलता)\s+(?:हैं|है)", "बोलते हैं")
    yield framed("works_for", "", r"\s+", r"\s+में\s+काम\s+(?:करते|करती|करता)\s+(?:हैं|है)", "में काम करते हैं")
    yield framed("uses", "", r"\s+", r"\s+का\s+(?:उपयोग|इस्तेमाल)\s+(?:करते|करती|करता)\s+(?:हैं|है)", "का उपयोग करता है")


def _chinese() -> Iterator[Form]:
    """Chinese main clauses."""
    yield framed("works_for", "", r"\s?(?:目前)?在\s?", r"\s?(?:工作|上班)", "在…工作")
    yield framed("works_for", "", r"\s?(?:任职于|就职于)\s?", "", "任职于")
    yield framed("headquartered_in", "", r"\s?(?:的)?总部(?:位于|设在|在)\s?", "", "总部位于")
    yield framed("located_in", "", r"\s?位于\s?", "", "位于")
    yield framed("uses", "", r"\s?(?:使用|采用)(?:了)?\s?", "", "使用")
    yield framed("owns", "", r"\s?负责\s?", "", "负责")
    yield framed("owns", "", r"\s?由\s?", r"\s?负责", "由…负责", flip=True)
    yield framed("maintains", "", r"\s?(?:维护|负责维护)(?:着)?\s?", "", "维护")
    yield framed("maintains", "", r"\s?由\s?", r"\s?维护", "由…维护", flip=True)
    yield framed("leads", "", r"\s?(?:领导|带领)(?:着)?\s?", "", "领导")
    yield framed("leads", "", r"\s?由\s?", r"\s?(?:领导|带领)", "由…领导", flip=True)
    yield framed("lives_in", "", r"\s?(?:居?住在)\s?", "", "住在")
    yield framed("joined", "", r"\s?加入(?:了)?\s?", "", "加入")
    yield framed("left", "", r"\s?(?:离开|离开了|已离开)\s?", r"(?:了)?", "离开")
    yield framed("depends_on", "", r"\s?依赖(?:于)?\s?", "", "依赖")
    yield framed("reports_to", "", r"\s?(?:向|汇报给)\s?", r"\s?汇报(?:工作)?", "向…汇报")
    yield framed("member_of", "", r"\s?是\s?", r"\s?的?(?:成员|一员)", "是…的成员")
    yield framed("subsidiary_of", "", r"\s?是\s?", r"\s?的(?:全资)?子公司", "是…的子公司")
    yield framed("deployed_on", "", r"\s?部署在\s?", r"(?:上)?", "部署在")


def _japanese() -> Iterator[Form]:
    """Japanese main clauses."""
    yield framed("member_of", "", r"は", r"の(?:メンバー|一員)です", "は…のメンバーです")
    yield framed("uses", "", r"は", r"を(?:使用|利用)して(?:います|いる)", "は…を使用しています")
    yield framed("works_for", "", r"は", r"で働いて(?:います|いる)", "は…で働いています")
    yield framed("lives_in", "", r"は", r"に住んで(?:います|いる)", "は…に住んでいます")
    yield slotted(
        "has_version", "の現在のバージョンは", "text", r"v?\d+(?:\.\d+)*(?=です)", wording="の現在のバージョンは"
    )
    yield slotted("licensed_under", "のライセンスは", "text", r"[A-Z][\w.-]*?(?=です)", wording="のライセンスは")
    yield framed("headquartered_in", "", r"の本社は", r"に(?:あります|ある)", "の本社は…にあります")


def _arabic() -> Iterator[Form]:
    """Arabic: the verb comes first."""
    yield framed("headquartered_in", r"يقع\s+(?:ال)?مقر\s+", r"(?:\s+الرئيسي)?\s+في\s+", "", "يقع مقر في")
    yield framed("headquartered_in", "", r"\s+مقرها(?:\s+الرئيسي)?\s+في\s+", "", "مقرها في")
    yield framed("founded_on", r"(?:قد\s+|وقد\s+)?تأسست?\s+", r"\s+(?:في\s+)?(?:عام|سنة)\s+", "", "تأسست عام")
    yield framed("uses", r"[تي]ستخدم\s+", _AR, "", "يستخدم")
    yield framed("uses", "", r"\s+[تي]ستخدم\s+", "", "يستخدم")
    yield framed("leads", r"[تي]قود\s+", _AR, "", "يقود")
    yield framed("leads", "", r"\s+[تي]قود\s+", "", "يقود")
    yield framed("works_for", r"[تي]عمل\s+", r"\s+(?:في|لدى)\s+", "", "يعمل في")
    yield framed("works_for", "", r"\s+[تي]عمل\s+(?:في|لدى)\s+", "", "يعمل في")
    yield framed("lives_in", "", r"\s+[تي](?:عيش|سكن)\s+في\s+", "", "يعيش في")
    yield framed("lives_in", r"[تي](?:عيش|سكن)\s+", r"\s+في\s+", "", "يعيش في")
    yield framed("owns", "", r"\s+مسؤولة?\s+عن\s+", "", "مسؤول عن")
    yield framed("depends_on", "", r"\s+[تي]عتمد\s+على\s+", "", "يعتمد على")
    yield framed("depends_on", r"[تي]عتمد\s+", r"\s+على\s+", "", "يعتمد على")
    yield framed("works_on", "", r"\s+[تي]عمل\s+على\s+", "", "يعمل على")
