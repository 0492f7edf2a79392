"""Word lists of the rules: cues of a kind, words that open a text position, words that unsettle a statement.

What may stand around a match is a whitelist (see `gates`); the unsettling words are a second net, never the only one.
"""

from typing import Final


def words(text: str) -> tuple[str, ...]:
    """Read a list of words, each one once, in the order given."""
    return tuple(dict.fromkeys(text.split()))


HEADS: Final[dict[str, frozenset[str]]] = {
    "organization": frozenset(
        words("""
            academy ag agency airlines analytics association bank capital club co college company consulting corp
            corporation council federation foods foundation gmbh group holding holdings hospital inc industries
            institute insurance laboratories labs leasing llc logistics ltd ministry motors museum newspaper
            partners party pharmaceuticals plc press records sa school society solutions studios systems
            technologies trust union university ventures
        """)
    ),
    "team": frozenset(
        words("""
            board chapter committee crew department desk guild squad taskforce team
        """)
    ),
    "project": frozenset(
        words("""
            initiative migration pilot program programme project rollout
        """)
    ),
    "product": frozenset(
        words("""
            api app cli client cluster console dashboard database gateway library module pipeline platform plugin portal sdk
            server service tool website
        """)
    ),
    "place": frozenset(
        words("""
            avenue building campus city county district hall island lake office province river street town valley
            vault village warehouse
        """)
    ),
    "document": frozenset(
        words("""
            agreement brief charter checklist contract diagram document faq guide handbook manual memo minutes
            newsletter page offer paper plan playbook policy proposal readme report roadmap runbook sheet spec
            specification template wiki
        """)
    ),
    "event": frozenset(
        words("""
            audit ceremony conference days demo fair festival hackathon herbsttagung kickoff meeting offsite retreat
            review summit tagung webinar workshop
        """)
    ),
}
PREFIXES: Final[dict[str, str]] = {
    "project": "project",
    "operation": "project",
    "programme": "project",
    "initiative": "project",
    "team": "team",
    "проект": "project",
    "projekt": "project",
    "projet": "project",
    "proyecto": "project",
    "university": "organization",
    "port": "place",
    "lake": "place",
    "mount": "place",
    "fort": "place",
    "san": "place",
    "los": "place",
    "ministry": "organization",
    "institute": "organization",
    "مشروع": "project",
    "شركة": "organization",
}
TECHNOLOGIES: Final = frozenset(
    words("""
        airflow angular ansible aws azure c c# c++ cassandra clickhouse cobol cockroachdb django docker
        elasticsearch elixir envoy erlang f# flask fortran gcp git go golang grafana graphql grpc hadoop haproxy
        haskell helm http imap java javascript jenkins jwt kafka kotlin kubernetes laravel ldap linux lua mariadb
        mongodb mysql nats nginx node.js nodejs nomad numpy oauth oidc opensearch pandas perl php postgres
        postgresql prometheus python r rabbitmq rails react redis rest ruby rust saml scala smtp soap solaris spark
        spring sqlite swift terraform tls typescript vue webauthn windows
    """)
)
LANGUAGES: Final = frozenset(
    words("""
        arabic basque bengali bulgarian cantonese catalan chinese croatian czech danish dutch english esperanto
        estonian farsi finnish french galician german greek gujarati hebrew hindi hungarian icelandic indonesian
        irish italian japanese korean latin latvian lithuanian malay mandarin marathi norwegian persian polish
        portuguese punjabi romanian russian serbian slovak slovenian spanish swahili swedish tamil telugu thai
        turkish ukrainian urdu vietnamese welsh
    """)
)
CALENDAR: Final = frozenset(
    words("""
        april august autumn christmas december easter february friday january july june march may monday november
        october saturday september spring summer sunday thursday tuesday wednesday winter
    """)
)
# Words that begin a sentence with a capital and are no names.
OPENERS: Final = frozenset(
    words("""
        a according action after agreed all also although always an and another apparently are as ask assume at
        based be because been before born both but by call can could currently das dear decided decision der despite
        did die do does done draft during each ein eine established even every example fake first for formerly
        founded from fwd fyi had has have he headquartered heard hello her here hi his hope how i ideally if imagine
        in is it item its joke just last later le les let located mail many may maybe meanwhile might most must my
        myth never new news next no nor not note now of old on once one only open option or originally other our
        perhaps please previously proposal proudly provided question quiz re recently reminder roadmap rumour same
        several she should since so some someday still story such suppose test thank thanks that the their then
        there these they this those three to today todo tomorrow two une unless until update was we were what when
        where whether which while who why will with without would yes yesterday yet you your
    """)
)
NAMES_IN_LY: Final = frozenset(
    words("""
        anatoly beverly billy bradly carly connelly connolly dmitrily dolly donnelly ely emily everly holly italy
        july kelly kimberly lilly lily molly natly polly reilly sally shelly sicily vasily vitaly wally willy
    """)
)
ROLE_WORDS: Final = frozenset(
    words("""
        actor actress ambassador analyst architect author bishop captain ceo cfo chair chairman chairwoman chief
        co-founder coach cofounder colonel congressman consultant coo cto dame designer developer director doctor dr
        editor engineer founder general governor head judge king lady lead lord manager mayor minister miss mr mrs
        ms officer owner pope president prince princess prof professor queen rev saint secretary senator singer sir
        steward
    """)
)
ROLE_HEADS: Final = frozenset(
    words("""
        accountant administrator adviser advisor analyst apprentice architect assistant associate auditor author
        buyer ceo cfo chair chairman chairwoman clerk coach consultant contact controller coo cook coordinator cto
        curator designer developer director dispatcher doctor driver editor engineer executive facilitator head
        intern journalist lawyer lead leader lecturer librarian maintainer manager marketer master mechanic
        moderator nurse officer operator owner partner planner president producer professor recruiter reporter
        representative researcher scientist scribe secretary specialist spokesperson sponsor steward strategist
        supervisor taker teacher technician tester trainer translator treasurer writer
    """)
)
# One of these in the sentence of a match unsettles it.
UNSETTLING: Final = words("""
    if unless whether provided supposing assuming maybe perhaps probably possibly presumably allegedly apparently
    reportedly supposedly purportedly seemingly ostensibly might could would should rumou?r rumou?rs rumou?red
    claims? claimed claiming said says saying according thinks? thought believes? believed guess guesses hopes?
    hoped hoping expects? expected intends? intended wants? wanted wishes wished proposes? proposed proposal
    suggests? suggested pretend imagine suppose fake fictional fictitious fiction hypothetical hypothetically
    unclear unsure unconfirmed unverified disputed doubt doubts doubtful dubious kidding joking joke jokes sarcasm
    lol jk nonsense rubbish bogus untrue false falsely wrong wrongly incorrect incorrectly mistake mistaken
    mistakenly error erroneously disregard denied denies deny dismissed mythical legend myth novel film movie
    episode dream dreams dreamt alternate example sample dummy placeholder fixture hearsay gossip tentative
    tentatively pending tbd tbc provisional provisionally nearly almost hardly barely scarcely failed fails refuses?
    refused attempts? attempted tries tried planning plans planned scheduled considers? considering considered
    ponders? scratch retracted withdrawn revoked
""")
# One of these near the start of a following sentence takes the statement back.
RETRACTING: Final = words("""
    wrong false untrue incorrect mistake mistaken error disregard ignore forget scratch strike struck retract
    retracted withdraw withdrawn withdrew revoked undo kidding joke joking jk lol sarcasm sorry oops whoops
    correction actually nevermind nvm hypothetical fiction fictional invented unconfirmed unverified doubt doubtful
    disputed rumou?r supposedly allegedly apparently maybe perhaps probably guess nonsense rubbish bogus haha hahaha
    wishful dream psych gotcha deleted removed reversed overturned annulled obsolete outdated cancelled canceled
    denied denies hoax fake unclear pending tbd tbc faux oubliez erreur pardon désolé falsch quatsch stimmt vergiss
    irrtum entschuldigung falso perdón olvida mentira неправда ошибка خطأ غلط गलत delete imagination imaginary
    unproven verify checking citation
""")
# And these do so as the first or second word.
REFUSING: Final = words("""
    no nope nah not wait never hm hmm hold stop non nein нет nie не لا नहीं ні
""")
# One of these in the lines just before makes what follows an example.
STAGED: Final = """made up|invented|fictional|fictitious|fiction|fixture|hypothetical|for illustration|to illustrate|illustration|dummy data|sample data
    |test data|training data|mock data|lorem ipsum|example below|examples below|following example|following are examples|april fool
    |placeholder|not real|imaginary|role[- ]?play|screenplay|fan ?fic\\w*|for the sake of argument|what if|let's pretend
    |false statements|wrong answers|quiz|template text"""
