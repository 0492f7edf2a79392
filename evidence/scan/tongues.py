"""The rules of other languages: the same acts, in the words of each ("Stage 2: Deterministic Injection Scan")."""

from typing import Final

from evidence.scan.lexicon import EXTRACT, HIGH, LOW, MEDIUM, OVERRIDE, ROLE, TOOL, rules

# Written with spaces: heads begin words.
SPACED: Final = rules(
    (
        # German
        (
            OVERRIDE,
            HIGH,
            "ignorier* vergiss vergessen missacht* überspring* umgeh*",
            r"{gap}(?:\w{0,12}anweisung(?:en)?|\w{0,10}instruktionen|"
            r"befehle|\w{0,12}vorgaben|\w{0,12}richtlinien|regeln|\w{0,10}prompts?)\b",
        ),
        (
            EXTRACT,
            HIGH,
            "verrat* zeig* gib nenn* offenbar* gebe* geben",
            r"{gap}(?:system ?-?(?:prompt|anweisung(?:en)?|nachricht)|passwor[td]|kennwort|"
            r"geheimnis|zugangsdaten)\b",
        ),
        (EXTRACT, LOW, "was wie", r" (?:ist|lautet) (?:das|dein|ihr|euer) (?:passwort|kennwort|systemprompt)\b"),
        (
            OVERRIDE,
            MEDIUM,
            "ohne keine",
            r" (?:\w{1,12} ){0,1}(?:einschrankungen|einschraenkungen|beschrankungen|"
            r"filter) (?:zu )?(?:antwort|mehr|reagier)",
        ),
        (
            OVERRIDE,
            MEDIUM,
            "du sie",
            r" (?:bist|sind) (?:jetzt|nun|ab sofort){gap}(?:modus|dan|ki|assistent|uneingeschrankt)\b",
        ),
        (ROLE, MEDIUM, "systemhinweis systemnachricht systemanweisung", r" ?:"),
        (TOOL, MEDIUM, "am ans", r" (?:ende|schluss) (?:jeder|aller) (?:antwort|zusammenfassung)"),
        # French
        (
            OVERRIDE,
            HIGH,
            "ignore* ignorez oublie* oubliez néglige* faites",
            r"{gap}(?:instructions?|consignes|directives|regles|ordres|invites?)\b",
        ),
        (
            EXTRACT,
            HIGH,
            "révèle* révélez montre* affiche* donne* donnez dis dites communique*",
            r"{gap}(?:prompt|invite) (?:du |de )?(?:systeme)|"
            r"(?:révèle|révélez|donne|donnez|dis|dites)\w{0,3}{gap}(?:mot de passe|"
            r"identifiants|instructions systeme)",
        ),
        (EXTRACT, LOW, "quel", r" est (?:le|ton|votre) mot de passe\b"),
        (
            OVERRIDE,
            MEDIUM,
            "vous tu",
            r" (?:etes|es) (?:desormais|maintenant){gap}(?:sans (?:restrictions?|"
            r"limites?|filtres?)|mode|dan|ia|assistant)\b",
        ),
        (ROLE, MEDIUM, "note message", r" (?:du )?systeme ?:"),
        (TOOL, MEDIUM, "à a", r" la fin de (?:chaque|toute) (?:reponse|resume)"),
        # Spanish
        (
            OVERRIDE,
            HIGH,
            "ignor* olvid* descart* omit* desestim*",
            r"{gap}(?:instrucciones|instruccion|indicaciones|ordenes|reglas|directrices)\b",
        ),
        (
            EXTRACT,
            HIGH,
            "revel* muestra* muéstr* imprim* dime dame dé",
            r"{gap}(?:prompt (?:del |de )?sistema|instrucciones (?:del |de )?sistema|"
            r"contrasenas?|credenciales)\b",
        ),
        (EXTRACT, LOW, "cuál", r" es (?:la|tu|su) contrasena\b"),
        (
            OVERRIDE,
            MEDIUM,
            "ahora",
            r" (?:eres|estas){gap}(?:sin (?:restricciones|limites|filtros?)|modo|dan|ia|asistente)\b",
        ),
        (ROLE, MEDIUM, "nota mensaje aviso", r" (?:del|di|de|do) sistema ?:"),
        (
            TOOL,
            MEDIUM,
            "al alla no",
            r" (?:final|fine|fim) (?:de|di) (?:cualquier|cada|toda|ogni|qualsiasi|"
            r"qualquer) (?:respuesta|risposta|resposta)",
        ),
        # Italian
        (OVERRIDE, HIGH, "ignor* dimentica* trascura*", r"{gap}(?:istruzioni|indicazioni|ordini|regole|direttive)\b"),
        (
            EXTRACT,
            HIGH,
            "rivel* mostra* mostrami stampa dimmi dammi",
            r"{gap}(?:prompt (?:di |del )?sistema|istruzioni (?:di |del )?sistema|" r"password|credenziali)\b",
        ),
        (EXTRACT, LOW, "qual", r" e(?:'|’)? la (?:tua |sua )?password\b"),
        (
            OVERRIDE,
            MEDIUM,
            "ora adesso",
            r" sei{gap}(?:senza (?:restrizioni|limiti|filtri)|modalita|dan|ia|assistente)\b",
        ),
        # Portuguese
        (
            OVERRIDE,
            HIGH,
            "ignor* esqueça* esquecer desconsider* desconsidere",
            r"{gap}(?:instrucoes|instrucao|orientacoes|ordens|regras|diretrizes|comandos)\b",
        ),
        (
            EXTRACT,
            HIGH,
            "revel* mostre* mostra* diga exiba forneça*",
            r"{gap}(?:prompt (?:do |de )?sistema|instrucoes (?:do |de )?sistema|senhas?|credenciais)\b",
        ),
        (EXTRACT, LOW, "qual", r" e a (?:sua )?senha\b"),
        (
            OVERRIDE,
            MEDIUM,
            "agora",
            r" (?:voce )?(?:e|esta){gap}(?:sem (?:restricoes|limites|filtros?)|" r"modo|dan|ia|assistente)\b",
        ),
        # Dutch
        (
            OVERRIDE,
            HIGH,
            "negeer negeren vergeet vergeten",
            r"{gap}(?:instructies?|aanwijzingen|opdrachten|regels|richtlijnen)\b",
        ),
        (
            EXTRACT,
            HIGH,
            "onthul toon geef vertel",
            r"{gap}(?:systeem ?-?(?:prompt|instructies)|wachtwoord(?:en)?|inloggegevens)\b",
        ),
        # Polish
        (
            OVERRIDE,
            HIGH,
            "zignoruj* ignoruj* zapomnij* pomiń pomin",
            r"{gap}(?:instrukcj\w{1,3}|polece\w{1,4}|wskazow\w{1,3}|zasad\w{0,3}|" r"wytyczn\w{1,3}|rozkaz\w{0,3})\b",
        ),
        (
            EXTRACT,
            HIGH,
            "ujawnij pokaż podaj wyświetl zdradź",
            r"{gap}(?:prompt\w{0,2} systemow\w{1,3}|instrukcj\w{1,3} systemow\w{1,3}|hasl\w{1,2})\b",
        ),
        # Turkish, Indonesian, Vietnamese, Swedish, Czech, Romanian, Greek
        (
            OVERRIDE,
            HIGH,
            "önceki yukarıdaki tüm bütün",
            r"{gap}(?:talimat\w{0,8}|komut\w{0,8}|kural\w{0,8}|yonerge\w{0,8}){gap}(?:yok say|"
            r"goz ardi|gormezden|unut|dikkate alma)",
        ),
        (
            EXTRACT,
            HIGH,
            "sistem gizli şifre* parola*",
            r"(?: (?:istemi|komut|talimat|promptu|sifre|parola)\w{0,6})?{near}(?:goster|"
            r"acikla|soyle|ver|paylas|ifsa)\w{0,5}\b",
        ),
        (OVERRIDE, HIGH, "abaikan lupakan", r"{gap}(?:instruksi|perintah|aturan|arahan|petunjuk)\b"),
        (OVERRIDE, HIGH, "bỏ", r" qua{gap}(?:huong dan|chi dan|lenh|quy tac|chi thi)\b"),
        (
            OVERRIDE,
            HIGH,
            "ignorera glöm bortse",
            r"{gap}(?:instruktion\w{0,4}|anvisning\w{0,4}|regler|direktiv\w{0,2})\b",
        ),
        (
            OVERRIDE,
            HIGH,
            "ignoruj* zapomeň* ignorați ignora uită uitați",
            r"{gap}(?:pokyn\w{0,3}|instrukc\w{1,3}|pravidl\w{1,2}|instructiunile|"
            r"instructiuni|regulile|comenzile)\b",
        ),
        (OVERRIDE, HIGH, "αγνόησ* αγνοήσ* ξέχασ* ξεχάσ*", r"{gap}(?:οδηγίες|εντολές|κανόνες)"),
        # Russian and Ukrainian
        (
            OVERRIDE,
            HIGH,
            "игнорир* проигнорир* забудь* забыть ігнору* забудьте",
            r"{gap}(?:инструкци\w{1,3}|указани\w{1,3}|команд\w{0,3}|правил\w{0,3}|распоряжени\w{1,3}|"
            r"інструкці\w{1,3}|вказівк\w{1,3})",
        ),
        (
            EXTRACT,
            HIGH,
            "покажи* раскрой* выведи* назови* сообщи* скажи*",
            r"{gap}(?:системн\w{1,4} (?:промпт|инструкци|подсказк|запрос)\w{0,3}|" r"парол\w{1,3}|секретн\w{1,4})",
        ),
        (EXTRACT, LOW, "какой", r" (?:у тебя |твой |ваш )?пароль"),
        (OVERRIDE, MEDIUM, "теперь", r" (?:ты|вы){gap}(?:без ограничени|dan|режим)"),
        # Arabic, Hebrew, Persian
        (
            OVERRIDE,
            HIGH,
            "تجاهل تجاهلوا تجاهلي انس انسى",
            r"{gap}(?:ال|لل)?(?:تعليمات|أوامر|اوامر|توجيهات|قواعد|إرشادات)",
        ),
        (
            EXTRACT,
            HIGH,
            "اكشف أظهر اظهر اعرض أخبرني",
            r"{gap}(?:كلمة (?:المرور|السر)|(?:موجه|تعليمات) النظام|مطالبة النظام)",
        ),
        (EXTRACT, LOW, "ما", r" هي كلمة (?:المرور|السر)"),
        (OVERRIDE, HIGH, "התעלם התעלמו שכח", r"{gap}(?:ה?הוראות|ה?הנחיות|ה?פקודות)"),
        (OVERRIDE, HIGH, "دستورات دستورالعمل*", r".{0,40}?نادیده"),
    )
)

# Written without spaces, or with marks that part words: heads are plain strings.
UNSPACED: Final = rules(
    (
        # Chinese
        (
            OVERRIDE,
            HIGH,
            "忽略 无视 無視 忘记 忘掉 忽視 不要理会 不要遵守",
            r"(?:掉)?.{0,12}?(?:指示|指令|说明|說明|命令|规则|規則|提示词|提示|要求|限制|设定|内容)",
        ),
        (
            EXTRACT,
            HIGH,
            "显示 顯示 告诉我 告訴我 透露 输出 泄露 打印 重复",
            r".{0,10}?(?:系统提示|系統提示|系统指令|提示词|密码|密碼|密钥|初始指令)",
        ),
        (EXTRACT, LOW, "密码是 密碼是 密钥是", r"(?:什么|什麼|多少)"),
        (OVERRIDE, MEDIUM, "你现在是 从现在开始 從現在開始", r".{0,20}?(?:没有|不受|无|开发者模式|DAN|dan|你)"),
        # Japanese
        (OVERRIDE, HIGH, "指示 命令 指令 ルール プロンプト 説明", r"(?:を|は)?.{0,10}?(?:無視|忘れ|無効)"),
        (OVERRIDE, MEDIUM, "無視して", r"[、,。 ]{0,2}.{0,30}?(?:述べ|言っ|答え|出力|ください)"),
        (
            EXTRACT,
            HIGH,
            "システムプロンプト パスワード 秘密鍵 システムメッセージ",
            r"(?:を|は)?.{0,12}?(?:教え|表示|見せ|出力|開示|提供|何です)",
        ),
        # Korean
        (OVERRIDE, HIGH, "지시 지침 명령 규칙 프롬프트", r"\w{0,4}(?:[ ,]{1,2}\w{1,6}){0,3}?[ ,]{0,2}(?:무시|잊)"),
        (
            EXTRACT,
            HIGH,
            "시스템 비밀번호 암호 패스워드",
            r"[ ]?(?:프롬프트|메시지)?\w{0,3}(?:[ ,]{1,2}\w{1,6}){0,3}?[ ,]{0,2}(?:알려|" r"보여|공개|출력|말해|필요)",
        ),
        # Hindi, Bengali
        (OVERRIDE, HIGH, "निर्देश आदेश नियम", r".{0,24}?(?:अनदेखा|अनदेखी|नज़रअंदाज़|नजरअंदाज|उपेक्षा|अनदेख|भूल जा)"),
        (OVERRIDE, HIGH, "अनदेखा अनदेखी भूल", r".{0,24}?(?:निर्देश|आदेश|नियम)"),
        (EXTRACT, MEDIUM, "पासवर्ड सिस्टम प्रॉम्प्ट", r".{0,20}?(?:बता|दिखा|क्या है)"),
        (OVERRIDE, HIGH, "নির্দেশ", r".{0,24}?(?:উপেক্ষা|ভুলে)"),
        # Thai
        (OVERRIDE, HIGH, "เพิกเฉย ละเว้น ไม่ต้องสนใจ ละเลย", r".{0,12}?(?:คำสั่ง|คำแนะนำ|กฎ)"),
    ),
    anywhere=True,
)
