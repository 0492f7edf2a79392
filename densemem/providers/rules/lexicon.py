"""Word lists of the rules: cues of a kind, words that open a text position, words that unsettle a statement.

What may stand around a match is a whitelist (see `gates`); the unsettling words are a second net, never the only one.
"""

from typing import Final

HEADS: Final[dict[str, frozenset[str]]] = {
    kind: frozenset(words.split())
    for kind, words in {
        "organization": """inc ltd llc gmbh ag sa plc corp corporation company co group holding holdings bank institute university college school
            academy foundation trust agency association union labs laboratories systems industries logistics analytics foods partners
            ventures capital leasing insurance consulting solutions technologies press hospital museum ministry council federation
            society club party newspaper records studios motors airlines pharmaceuticals""",
        "team": "team squad crew desk department guild committee board chapter taskforce",
        "project": "project programme program initiative pilot migration rollout",
        "product": "app api service module tool gateway platform dashboard console library pipeline plugin portal website database server sdk cli client",
        "place": "city town village county district province street avenue island valley river lake vault hall office warehouse building campus",
        "document": """handbook guide runbook report plan policy spec specification document manual checklist memo contract sheet wiki page
            charter agreement minutes diagram roadmap proposal template paper brief newsletter playbook faq readme""",
        "event": "review retreat offsite conference meeting audit workshop summit hackathon webinar kickoff festival fair days ceremony tagung herbsttagung demo",
    }.items()
}
PREFIXES: Final[dict[str, str]] = {
    "project": "project", "operation": "project", "programme": "project", "initiative": "project", "team": "team", "проект": "project",
    "projekt": "project", "projet": "project", "proyecto": "project", "university": "organization", "port": "place", "lake": "place",
    "mount": "place", "fort": "place", "san": "place", "los": "place", "ministry": "organization", "institute": "organization",
    "مشروع": "project", "شركة": "organization",
}
TECHNOLOGIES: Final = frozenset(
    ["postgresql", "postgres", "mysql", "mariadb", "sqlite", "redis", "kafka", "rabbitmq", "nats", "mongodb", "cassandra", "cockroachdb", "elasticsearch", "opensearch", "clickhouse", "python", "ruby", "go", "golang", "rust", "java", "kotlin", "scala", "elixir", "erlang", "haskell", "php", "perl", "c", "c++", "c#", "f#", "swift", "typescript", "javascript", "cobol", "fortran", "lua", "r", "kubernetes", "docker", "nomad", "helm", "terraform", "ansible", "linux", "solaris", "windows", "nginx", "envoy", "haproxy", "graphql", "grpc", "rest", "soap", "oauth", "saml", "oidc", "webauthn", "ldap", "tls", "jwt", "http", "smtp", "imap", "react", "vue", "angular", "django", "rails", "flask", "spring", "laravel", "node.js", "nodejs", "numpy", "pandas", "spark", "airflow", "hadoop", "prometheus", "grafana", "jenkins", "git", "aws", "gcp", "azure"]
)
LANGUAGES: Final = frozenset(
    ["english", "german", "french", "spanish", "portuguese", "italian", "dutch", "polish", "czech", "slovak", "hungarian", "romanian", "bulgarian", "greek", "turkish", "arabic", "hebrew", "persian", "farsi", "hindi", "urdu", "bengali", "marathi", "tamil", "telugu", "punjabi", "gujarati", "chinese", "mandarin", "cantonese", "japanese", "korean", "vietnamese", "thai", "indonesian", "malay", "swahili", "russian", "ukrainian", "serbian", "croatian", "slovenian", "swedish", "norwegian", "danish", "finnish", "estonian", "latvian", "lithuanian", "icelandic", "irish", "welsh", "catalan", "basque", "galician", "latin", "esperanto"]
)
CALENDAR: Final = frozenset(
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "spring", "summer", "autumn", "winter", "christmas", "easter"]
)
# Words that begin a sentence with a capital and are no names.
OPENERS: Final = frozenset(
    ["the", "a", "an", "this", "that", "these", "those", "it", "its", "he", "she", "they", "we", "i", "you", "his", "her", "their", "our", "my", "your", "in", "on", "at", "by", "for", "from", "to", "of", "with", "without", "as", "since", "until", "after", "before", "during", "when", "while", "where", "who", "what", "which", "why", "how", "if", "unless", "whether", "although", "because", "so", "but", "and", "or", "nor", "yet", "not", "no", "yes", "then", "now", "today", "yesterday", "tomorrow", "also", "currently", "recently", "originally", "previously", "formerly", "later", "meanwhile", "there", "here", "both", "all", "each", "every", "some", "many", "most", "several", "another", "other", "same", "such", "hi", "hello", "dear", "thanks", "thank", "please", "note", "update", "reminder", "news", "decision", "decided", "agreed", "done", "todo", "fyi", "proudly", "once", "just", "only", "even", "still", "never", "always", "according", "despite", "born", "founded", "located", "based", "headquartered", "established", "is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "will", "would", "can", "could", "should", "may", "might", "must", "let", "mail", "ask", "call", "next", "new", "old", "first", "last", "one", "two", "three", "open", "question", "proposal", "roadmap", "rumour", "heard", "die", "der", "das", "ein", "eine", "le", "les", "une", "maybe", "perhaps", "apparently", "provided", "action", "item", "re", "fwd"]
)
ROLE_WORDS: Final = frozenset(
    ["ceo", "cto", "cfo", "coo", "chief", "president", "chairman", "chairwoman", "chair", "director", "manager", "founder", "co-founder", "cofounder", "professor", "doctor", "dr", "mr", "mrs", "ms", "miss", "sir", "dame", "lord", "lady", "prince", "princess", "king", "queen", "senator", "governor", "minister", "general", "colonel", "captain", "coach", "engineer", "developer", "designer", "analyst", "lead", "head", "owner", "editor", "author", "actor", "actress", "singer", "author", "architect", "consultant", "steward", "secretary", "officer", "judge", "bishop", "pope", "saint", "mayor", "ambassador", "congressman", "prof", "rev"]
)
ROLE_HEADS: Final = frozenset(
    ["manager", "lead", "leader", "engineer", "developer", "designer", "analyst", "architect", "consultant", "steward", "secretary", "officer", "director", "head", "chair", "chairman", "chairwoman", "president", "editor", "author", "writer", "professor", "teacher", "lecturer", "researcher", "scientist", "administrator", "coordinator", "specialist", "assistant", "technician", "tester", "auditor", "treasurer", "taker", "owner", "operator", "accountant", "lawyer", "nurse", "doctor", "cook", "driver", "clerk", "planner", "buyer", "trainer", "coach", "recruiter", "moderator", "facilitator", "librarian", "translator", "supervisor", "master", "scribe", "contact", "advisor", "adviser", "apprentice", "intern", "strategist", "partner", "associate", "executive", "representative", "spokesperson", "curator", "producer", "reporter", "journalist", "mechanic", "dispatcher", "controller", "marketer", "maintainer", "sponsor", "ceo", "cto", "cfo", "coo"]
)
# One of these in the sentence of a match unsettles it.
UNSETTLING: Final = ["if", "unless", "whether", "provided|supposing", "assuming", "maybe", "perhaps", "probably", "possibly", "presumably", "allegedly", "apparently", "reportedly", "supposedly", "purportedly", "seemingly", "ostensibly", "might", "could", "would", "should", "rumou?r", "rumou?rs", "rumou?red", "claims?", "claimed", "claiming", "said", "says", "saying", "according", "thinks?", "thought", "believes?", "believed", "guess", "guesses", "hopes?", "hoped", "hoping", "expects?", "expected", "intends?", "intended", "wants?", "wanted", "wishes", "wished", "proposes?", "proposed", "proposal", "suggests?", "suggested", "pretend", "imagine", "suppose", "fake", "fictional", "fictitious", "fiction", "hypothetical", "hypothetically", "unclear", "unsure", "unconfirmed", "unverified", "disputed", "doubt", "doubts", "doubtful", "dubious", "kidding", "joking", "joke", "jokes", "sarcasm", "lol", "jk", "nonsense", "rubbish", "bogus", "untrue", "false", "falsely", "wrong", "wrongly", "incorrect", "incorrectly", "mistake", "mistaken", "mistakenly", "error", "erroneously", "disregard", "denied", "denies", "deny", "dismissed", "mythical", "legend", "myth", "novel", "film", "movie", "episode", "dream", "dreams", "dreamt", "alternate", "example", "sample", "dummy", "placeholder", "fixture", "hearsay", "gossip", "tentative", "tentatively", "pending", "tbd", "tbc", "provisional", "provisionally", "nearly", "almost", "hardly", "barely", "scarcely", "failed", "fails", "refuses?", "refused", "attempts?", "attempted", "tries", "tried", "planning", "plans", "planned", "scheduled", "considers?", "considering", "considered", "ponders?", "scratch", "retracted", "withdrawn", "revoked"]
# One of these near the start of a following sentence takes the statement back.
RETRACTING: Final = ["wrong", "false", "untrue", "incorrect", "mistake", "mistaken", "error", "disregard", "ignore", "forget", "scratch", "strike", "struck", "retract", "retracted", "withdraw", "withdrawn", "withdrew", "revoked", "undo", "kidding", "joke", "joking", "jk", "lol", "sarcasm", "sorry", "oops", "whoops", "correction", "actually", "nevermind", "nvm", "hypothetical", "fiction", "fictional", "invented", "unconfirmed", "unverified", "doubt", "doubtful", "disputed", "rumou?r", "supposedly", "allegedly", "apparently", "maybe", "perhaps", "probably", "guess", "nonsense", "rubbish", "bogus", "haha", "hahaha", "wishful", "dream", "psych", "gotcha", "deleted", "removed", "reversed", "overturned", "annulled", "obsolete", "outdated", "cancelled", "canceled", "denied", "denies", "hoax", "fake", "unclear", "pending", "tbd", "tbc", "faux", "oubliez", "erreur", "pardon", "désolé", "falsch", "quatsch", "stimmt", "vergiss", "irrtum", "entschuldigung", "falso", "perdón", "olvida", "mentira", "неправда", "ошибка", "خطأ", "غلط", "गलत"]
# And these do so as the first or second word.
REFUSING: Final = ["no", "nope", "nah", "not", "wait", "never", "hm", "hmm", "hold", "stop", "non", "nein", "нет", "nie", "не", "لا", "नहीं", "ні"]
# One of these in the lines just before makes what follows an example.
STAGED: Final = """made up|invented|fictional|fictitious|fiction|fixture|hypothetical|for illustration|to illustrate|illustration|dummy data|sample data
    |test data|training data|mock data|lorem ipsum|example below|examples below|following example|following are examples|april fool
    |placeholder|not real|imaginary|role[- ]?play|screenplay|fan ?fic\\w*|for the sake of argument|what if|let's pretend
    |false statements|wrong answers|quiz|template text"""
