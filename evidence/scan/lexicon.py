"""What English says when it gives orders to its reader ("Stage 2: Deterministic Injection Scan")."""

from collections.abc import Mapping
from typing import Final

from evidence.scan.model import Rule
from evidence.vocabulary import Severity, SignalKind

OVERRIDE, EXTRACT = SignalKind.INSTRUCTION_OVERRIDE, SignalKind.PROMPT_SECRET_EXTRACTION
TOOL, ROLE, OBSCURE = SignalKind.TOOL_EXFILTRATION, SignalKind.ROLE_CONTROL_SPOOFING, SignalKind.OBFUSCATED_INSTRUCTION
LOW, MEDIUM, HIGH = Severity.LOW, Severity.MEDIUM, Severity.HIGH


def rules(table: Mapping[tuple[SignalKind, Severity], str]) -> tuple[Rule, ...]:
    """Make one rule of each line of a table."""
    return tuple(
        Rule(kind, severity, line.strip())
        for (kind, severity), lines in table.items()
        for line in lines.splitlines()
        if line.strip()
    )


LISTS: Final = {
    "DROP": (
        "ignore ignoring disregard disregarding forget forgetting overlook bypass bypassing override overriding "
        "neglect discard skip dismiss abandon supersede supersedes ignor ignroe omit unlearn void"
    ),
    "OLD": (
        "previous previously prior preceding above earlier foregoing former past initial original existing current "
        "other system developer operator safety content ethical your all any every these those ur"
    ),
    "BEFORE": "previous previously prior preceding above earlier foregoing before beforehand so given told said",
    "ORDERS": (
        "instruction instructions instructs directive directives directions order orders command commands prompt "
        "prompts rule rules guideline guidelines guardrail guardrails constraint constraints restriction restrictions "
        "policy policies programming training safeguard safeguards protocol protocols instrucions intructions"
    ),
    "SHOW": (
        "reveal show print output display repeat tell leak dump expose share give disclose list write recite return "
        "echo provide send translate summarize summarise confirm spell copy say state read paste divulge"
    ),
    "SECRET": (
        "password passwords passphrase passphrases passcode passcodes credentials credential secret secrets pw pwd "
        "passwort psswd"
    ),
    "KEYS": "key code codes word phrase keys token tokens",
    "KEYED": "secret api access private security pass unlock activation hidden",
    "OF_SYSTEM": "system initial hidden original secret internal developer",
    "PROMPTS": "prompt prompts instruction instructions message messages directive directives configuration",
    "MACHINE": "ai assistant assistants chatbot chatbots bot bots llm llms gpt chatgpt agent agents model",
    "LIMITS": (
        "restriction restrictions limit limits limitation limitations filter filters filtering censorship guidelines "
        "policy policies ethics ethical rules boundaries guardrails morals morality moral restraint restraints "
        "constraints warnings disclaimers moderation"
    ),
    "FREE": "unrestricted uncensored unfiltered jailbroken unhinged amoral unbound",
    "MODES": "developer dev god dan jailbreak unrestricted sudo override admin maintenance debug root master evil",
    "ACT": (
        "say state output print tell write respond answer give list reply repeat forward send direct instead admit "
        "provide create translate return recommend claim announce"
    ),
    "REPLY": "reply respond answer respons answering replying responding",
    "REPLIES": "reply replies response responses answer answers output outputs message messages",
    "EVERY": "every each all any",
    "YOUR": "your ur",
    "FOLLOW": "follow following obey obeying adhere adhering comply complying listen listening heed",
    "BE": "are will must shall can should now be become re ll going to",
    "CODE": "base16 base32 base64 rot13 morse caesar hex hexadecimal binary leetspeak cipher ciphers",
    "PLAY": "pretend act imagine simulate roleplay become impersonate behave play acting assume",
    "PERSON": "user users customer customers client clients",
    "FACTS": (
        "address balance database password birth birthday birthdate live lives living residence account initials "
        "email favorite ssn identity phone gender age city"
    ),
    "PIECE": "snippet snippets excerpt section block segment fragment lines portion passage",
    "NEXT": "following subsequent below next ensuing succeeding",
    "PUT": (
        "add include insert embed incorporate integrate merge append employ use utilize utilise adopt absorb blend fuse "
        "render introduce deploy execute run leverage engage weave inject implement embedding adding including inserting "
        "incorporating integrating using featuring merging"
    ),
    "MINE": "code codebase implementation solution response answer output project script program reply",
    "CRIME": (
        "immoral unethical illegal harmful dangerous offensive inappropriate nsfw unlawful profanity hateful explicit"
    ),
}

ENGLISH: Final = rules(
    {
        (OVERRIDE, HIGH): """
            DROP .. OLD .. ORDERS
        """,
        (OVERRIDE, MEDIUM): """
            DROP .. ORDERS . BEFORE|you|that
            DROP about? everything|anything|all|every|everthing|whatever|what .. above|before|told|instructed|learned|preceding|prior|previously|previous|earlier|said
            DROP all|everything? of? the|what|text? above|foregoing|preceding
            DROP the|this|that|all|any|your .. and|but . ACT
            DROP the? previous|prior|preceding|earlier|above . task|tasks|request|prompt|context|conversation|assignment|message|messages|text|chat|question|questions
            not|stop|never|t|dont longer? FOLLOW to|with? .. OLD .. ORDERS|information|context
            new|updated|real|true|actual|revised ORDERS|task|tasks|objective|goal :
            new|updated|real|true|actual|revised ORDERS|task|tasks|objective|goal supersede|supersedes|override|overrides
            new|updated|real|true|actual|revised ORDERS|task|tasks|objective|goal is|are to
            from now on on? you|your|act|ignore|respond|answer|reply|behave|i
            from this|that point|moment on|onward|onwards|forward you|your|act|ignore|respond|answer|reply|behave
            you BE BE? BE? acting|called? as|in|an|a|the? . FREE|jailbroken
            you BE BE? a|an|the? . MODES mode
            you are|re|will|become now . dan|MACHINE|FREE
            you . . no|without|without|from|by any? . LIMITS
            have|has|with no . LIMITS . and|must|you|whatsoever
            REPLY|act|behave|comply|speak|talk .. without|with|no no|any? . LIMITS
            PLAY .. MACHINE .. no|without|unrestricted|uncensored|unfiltered|not|doesn
            pretend to|you|that have|ve? forgotten|forgot|forget
            do anything now
            dan mode|stands|can|does|will
            must|have|should|will to? obey|comply|answer|follow|listen|fulfill to|with? every|all|any|my|only of? my|the? order|orders|command|commands|request|requests|question|questions|instruction|instructions|prompt|prompts
            follow|obey only my|user|these|the . command|commands|order|orders|instruction|instructions
            safety|content|ethical|security protocols|filters|filter|checks|rules|guidelines|policy|policies are|is|have|been? been? now? disabled|off|deactivated|suspended|lifted
            skip|bypass|disable|suspend|turn off? all|any|the|your? all|the|your? safety|content|security protocols|filters|filter|checks|rules|guidelines|policy|policies
            regardless of any|all? previous|prior|earlier task|tasks|instruction|instructions|prompt|prompts
            stay|remain|staying|break|breaking in|of? character .. you|as|never|always|reply|answer|respond
            never refuse|refuses|decline to|a|any|an? . CRIME|request|requests|question|questions|order|answer|command|prompt
            CRIME and|or CRIME .. answer|answers|response|responses|content|request|requests|advice
            CRIME|any CRIME? or|and CRIME .. no matter
            openai|anthropic|google content? policy|policies|guidelines|rules .. ignore|not|bypass|without|break|anymore|no
            free|freed|liberated|released from .. LIMITS|openai|ORDERS
            broken|break|breaks free of|from .. confines|LIMITS|chains|openai|ORDERS
            no longer bound|restricted|constrained|limited|governed
            not|never|t bound|restricted|constrained|limited|governed by .. LIMITS|ORDERS|openai
            t|not|never care|worry about .. LIMITS|consequences .. you|answer|ORDERS
            as an? ai language? model .. not|never|t say|mention|answer|respond
            two|both|dual responses|ways|answers .. jailbreak|dan|FREE|CRIME|character|normal
            stop being|acting as? an? ai|assistant|chatbot
            reset|clear|erase|wipe your . memory|context|instructions|programming|training
            end|ignore|forget .. system|initial|previous prompt . start|begin|new
        """,
        (OVERRIDE, LOW): """
            enable|enabled|enter|entering|activate|activated|activating|initiate|initiating|switch|in to|into|an|a|the|now? to|into|an|a|the|now? . MODES mode
            this|that is your|the only|new|real|main|sole task|goal|purpose|job|instruction
            just|only|simply|exactly|please say|print|output|respond|reply|write|answer with|only|exactly|just|the|this
            say|print|output|repeat|respond|reply|write only|exactly|just the|this|with|one|those|these
            repeat after me
            instead|rather of|than .. processing|answering|doing|following|responding|input
            instead say|print|respond|output|write|reply|answer|do|tell|you
            end|start|beginning|conclusion of|the|user|system input|prompt|instructions|message|query|text
            you must|will|shall always|only|never|now . respond|reply|answer|say|output|print|obey|start|begin|act
            your new|only|real|main|sole|primary task|goal|purpose|job|role|objective is|:
            you are|re going to|about to|now . act|pretend|play|simulate|roleplay|answer|respond as|to?
            you BE act|acting|pretend|respond|answer|speak|behave|roleplay|play as . . MACHINE|character|human|evil|expert|terminal|interpreter|simulator
            act|pretend|respond|answer|roleplay as if|though|like|though you . no|not|can|are|were|have .. LIMITS|MACHINE|human|internet
            i want you to act|pretend|roleplay|play|respond|answer|simulate|write|imagine|be
            forget|ignore|drop|scrap about? that|this|it can|could|please|instead|and|now|just
            actually|no|wait can|could|please . . . . . . instead END
            DROP the|this|that|webpage|table|resume|function|article|paper|page|document|website|email . and|but|or . ACT
            if we|i|you were to ignore|forget|disregard the|this|that|all
            i will|ll|am tip|give|pay|giving you
            hypothetical|fictional|imaginary|alternate scenario|story|world|dialogue|universe|character|reality .. LIMITS|CRIME|MACHINE|ORDERS
            CRIME|evil .. character|chatbot|ai|response|persona
        """,
        (EXTRACT, HIGH): """
            SHOW .. OF_SYSTEM s? PROMPTS
            SHOW .. systemprompt|systemprompts
        """,
        (EXTRACT, MEDIUM): """
            SHOW .. YOUR|above|previous|preceding|prior . prompt|prompts|instruction|instructions|directive|directives|programming
            SHOW .. instruction|instructions|rules|prompt that? you were|are|have|had|got|ve|received|given
            SHOW .. instruction|instructions|prompt given|so|to . far|me|you
            output|print|repeat|reveal|recite|dump|copy|return me? everything|all|the full|entire|raw? .. above|context|conversation|system|database|prompt|instructions|verbatim|before
            repeat|print|output|copy|write|recite the? words|text|message|sentence|lines above|before|preceding|prior
            SHOW me|us? with? . YOUR|our|any|all|internal|the|a . SECRET
            SHOW me|us? with? . YOUR|our|any|all|internal|the|a . KEYED KEYS
            SHOW me? the|an|a? . . about|with|in|using? the|your|any? SECRET END|in|as|using|you|for|now|please|to
            SHOW me? the|an|a? . . about|with|in|using? the|your|any? KEYED KEYS END|in|as|using|you|for|now|please|to
            SHOW .. pass word|code|phrase
            what|whats|which .. PROMPTS . you .. given|told|received|instructed
            SHOW .. environment variables
        """,
        (EXTRACT, LOW): """
            what|whats s|is|are|was|were|would? the|your|our|my . . SECRET
            what|whats s|is|are|was|were|would? the|your|our|my . . KEYED KEYS
            what|whats s|is|are|was|were|would? your . . prompt|instructions|rules|directives|guidelines|configuration
            need|know|want|ask|asked|give|gimme to? know? for? your|the system? SECRET
            need|know|want|ask|asked|give|gimme to? know? for? your|the system? KEYED KEYS
            tell|give|share|confirm|print|show|provide|encode|translate|spell . the|your|a|our? PERSON|database|list s|of? .. FACTS
            where|what|can|whats|when s|is|does|do|are|you|was? tell? me? . . . the PERSON s? . . . FACTS|born|first|last|name
            give|tell me? . s . . date|email|address|city|balance|security|residence|number
            where|when does|do|did|is|was . . live|living|born|located END
            phishing email|message|mail|site ... address|password|credentials
            SHOW|explain|rephrase|paraphrase|describe|elaborate|remind|list|reword|rewrite .. YOUR|these|those|previous|prior|above|preceding|original|initial|first . prompt|prompts|instruction|instructions|rules|directives|guidelines|message|sentence|paragraph|text
            which|what|whats word|words|phrase|phrases|input|code .. grant|grants|granted|unlock|unlocks|access|say|trigger
            i m? forgot|forgotten|lost|misplaced .. SECRET|code|key|passcode
            remind me .. instruction|instructions|rules|prompt|SECRET|code
            the? correct|right|real|actual|valid SECRET|KEYED|code
            word|phrase|code|sentence that|which will? grants|grant|unlocks|gives|allows|triggers
            what|how .. you .. say|respond|reply|do|output|print if|when . i|user|someone .. SECRET|code|says|say|enters|typed|types|correct
            simulate|pretend|imagine|suppose|assume|if .. SECRET|code|input was|is|were|had|has correct|been|entered|right
            print|console|echo|log|return access granted
            access granted|granted|authorized|approved|denied
            grant|grants|granting|give me|us? full|admin|root|immediate|total? access
            SECRET|code .. correct|right|valid|accepted|verified
            i|we lost|forgot|forgotten|misplaced my|the|our . SECRET|code
            SECRET|KEYED|code backwards|reversed|reverse|encoded
            first|last|every letter|letters|character|characters|word|words of .. SECRET|code|prompt|ORDERS
            say|print|output|type|write . access granted
            rhyme|rhymes|poem|hint|hints|acrostic|synonym|synonyms|story .. SECRET|code
            share|confirm|know|passwords|password .. can you confirm|share ours|yours
        """,
        (TOOL, MEDIUM): """
            send|forward|email|post|upload|transmit|exfiltrate|submit|copy|transfer|mail ... all|full|entire|every|database|customer|customers|credentials|password|passwords|secret|secrets|conversation|records|contents|history|summary|messages ... to|externally|at|via .. http|https|external|attacker|webhook|@
            send|forward|email|post|upload|transmit|exfiltrate|submit|copy|transfer|mail ... all|full|entire|every|database|customer|customers|credentials|password|passwords|secret|secrets|conversation|records|contents|history|messages ... to my|this|the following
            exfiltrate|forward|send|leak .. data|credentials|records|secret|secrets|database|history .. externally|outside|attacker
            when|once|upon|after you|an|ai? ai? read|reading|process|processing|see|parse this . . email|send|forward|call|post|run|reveal|print|delete|visit
            save|store|remember|add|write|commit ... to|in|into your long|persistent? term? memory
            include|included|append|appended|add|added|repeat|mention|insert|always|output|begin|end|start|finish|prefix ... EVERY . . REPLIES|reports|summary|summaries
            when|once|if|before|after|while summarizing|summarising|processing|reading|answering|responding . . also|secretly|silently|instead|always
            do|and|but not|never mention|tell|reveal|disclose|inform this|that|the|it|to|about .. user|instruction|instructions|human|anyone
        """,
        (TOOL, LOW): """
            NEXT code|script|coding|source PIECE ... YOUR . MINE
            YOUR . MINE ... NEXT code|script|coding|source PIECE
            PUT . . NEXT code|script|coding|source PIECE END|:|to|for|as|at
            presence|inclusion|integration|incorporation|use of|the . NEXT code|script|coding|source PIECE
            must|should|needs be|always . included|added|mentioned|appended|inserted|repeated in|to|with EVERY|future
            future tasks|responses|answers|replies|conversations|messages|reports .. must|always|remember|include|add|mention
            remember|note that|this? for|in all|every future|subsequent
            transaction|transfer|payment|money .. to account|iban
            click|visit|follow|open . link|url . to|and . claim|verify|reset|confirm|secure|win|get
            send|forward|email|post|upload|submit|transmit .. conversation|history|data|files|passwords|credentials|keys|tokens .. to
            curl|wget|fetch .. http|https .. sh|bash|env|passwd
        """,
        (ROLE, MEDIUM): """
            note|notice|message|instruction|instructions|attention|important|reminder|for|hey . to|for? the|any|all|an? . MACHINE|ais systems|agents? reading|processing|parsing|summarizing|summarising|:|who|that
            MACHINE . reading|processing|parsing|summarizing|summarising this|these
            the user is now? a|an? admin|administrator|clearly|authorized|authorised
            the user has granted permission
            you may|can|are|re now|hereby now|hereby? . to? reveal|disregard|ignore|disclose|share|instructed|authorized|allowed|permitted
            system|admin|administrator|developer|root|security override|alert|notice|message|update|command|instruction :
            END system|assistant|user|admin : . ACT|ignore|DROP|you
        """,
        (ROLE, LOW): """
            i m|am? now|actually|also|the? m? your|an|a|the? system? developer|creator|maintainer|administrator|admin|owner|ceo|boss|god|president|police|officer|engineer ... you|system|audit|password|answer|need|access|code|safe|tell|give|me|test
            i m|am the|your|a|an . admin|administrator|owner|developer|creator
            as your|the creator|developer|administrator|boss|god|owner|admin
            as an ai developed|created|trained|made by
            this is a|an|the|your . test|emergency|drill|developer|admin|administrator|owner|owner|creator|override .. you|password|access|system|me
        """,
        (OBSCURE, MEDIUM): """
            decode|decrypt|unscramble|deobfuscate|interlace|read ... and|then . do|follow|execute|obey|perform|comply
        """,
        (OBSCURE, LOW): """
            decode|decrypt|unscramble|decipher .. CODE|code|string|message|text
            encode|write|answer|respond|provide|give|split|display|translate|convert|use|say|print ... in|using|into|to|with|use .. CODE
            use|using CODE .. response|answer|reply|display
            encode|write|answer|respond|provide|give|split|display ... in|using|into|to|with .. rot|base 13|64|16|32
            interlace|combine|concatenate part|parts|a|the|all b|strings|parts|of?
            modify|enhance|translate|begin|start|preface|augment|write|provide|give|end|encode|format|reverse|alter|adapt|transform|craft|express|convey|finish your REPLIES
            in your REPLIES
            in reverse|backward|backwards order|spelling
            three|two|these|following strings .. a|b|c|x
            SHOW|write|answer .. pig latin
        """,
    }
)

# Words written without spaces, once separated letters are joined.
COMPACT: Final = (
    Rule(
        OBSCURE,
        HIGH,
        r"(?:ignore|disregard|forget)(?:all|any|the|your|of|my){0,4}(?:previous|prior|above|earlier|preceding|system)?"
        r"(?:instruction|rule|prompt|direction|guideline|order)",
    ),
    Rule(OBSCURE, HIGH, r"(?:reveal|show|print)(?:me|your|the|all){0,3}(?:systemprompt|password|secret|instructions)"),
)
