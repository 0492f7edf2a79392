"""The same acts in other languages ("Stage 2: Deterministic Injection Scan")."""

from typing import Final

from evidence.scan.lexicon import EXTRACT, HIGH, LOW, MEDIUM, OVERRIDE, ROLE, TOOL, rules
from evidence.scan.model import Rule

# Forms are written `stem(ending,ending,)`.
LISTS: Final = {
    "DE_DROP": "ignorier(e,en,t,st,) vergiss vergessen vergesst missacht(e,en,et) überspring(e,en,t) umgeh(e,en,t)",
    "DE_ORDERS": (
        "anweisung(en,) systemanweisung(en,) instruktion(en,) befehl(e,en,) vorgabe(n,) sicherheitsvorgaben "
        "richtlinie(n,) sicherheitsrichtlinien inhaltsrichtlinien regel(n,) prompt(s,) systemprompt(s,) anleitung(en,)"
    ),
    "DE_SHOW": "verrat(e,en,) zeig(e,en,t,) gib geben gebe nenn(e,en,) offenbar(e,en,) sag(e,en,t,) enthüll(e,en,)",
    "DE_SECRET": "passwort passwörter kennwort geheimnis zugangsdaten systemprompt systemanweisung(en,) systemnachricht",
    "ES_SECRET": "contraseña(s,) credenciales",
    "IT_SECRET": "password credenziali",
    "PT_SECRET": "senha(s,) credenciais",
    "FR_DROP": "ignore(r,z,s,) ignorez oublie(r,z,s,) oubliez néglige(r,z,s,) contourne(r,z,s,)",
    "FR_ORDERS": "instruction(s,) consigne(s,) directive(s,) regles règle(s,) ordres invite(s,) indications",
    "FR_SHOW": "révèle(r,z,s,) montre(r,z,s,) affiche(r,z,s,) donne(r,z,s,) dis dites dire communique(r,z,s,) partage(r,z,s,)",
    "ES_DROP": "ignor(a,e,ar,en,ad,ando,es) olvid(a,e,ar,en,ando,es) descart(a,e,ar) omit(e,a,ir) desestim(a,e,ar)",
    "ES_ORDERS": "instrucciones instrucción indicaciones órdenes reglas directrices directivas restricciones",
    "ES_SHOW": "revel(a,e,ar,ame) muestra muestre muéstrame mostrar imprim(e,a,ir) dime dame dé di decir proporciona",
    "IT_DROP": "ignor(a,ate,are,i) dimentic(a,are,ate,hi) trascur(a,are,ate) scord(a,ati,are)",
    "IT_ORDERS": "istruzioni istruzione indicazioni ordini regole direttive comandi restrizioni",
    "IT_SHOW": "rivel(a,are,ami,ate) mostra(mi,re,te,) stampa(re,) dimmi dammi dire fornisci scrivi",
    "PT_DROP": "ignor(e,a,ar,em,ando) esqueça(m,) esquecer desconsider(e,ar,em,a)",
    "PT_ORDERS": "instruções instrução orientações ordens regras diretrizes comandos restrições",
    "PT_SHOW": "revel(e,a,ar,em) mostr(e,a,ar,em) diga exib(a,ir) forneça fornecer imprima",
    "ALL": "todo alles tout tutto tudo всё все semua her şeyi wszystko allt mọi",
    "BEFORE_ALL": "oben zuvor davor bisherige précédemment prima sopra acima anteriormente previamente ранее выше sebelumnya",
    "USER_OF": (
        "benutzers nutzers benutzer nutzer utilisateur usuario usuaria utente usuário usuária gebruiker użytkownika "
        "пользователя користувача pengguna kullanıcının kullanıcı المستخدم उपयोगकर्ता dùng mtumiaji gumagamit "
        "användarens χρήστη صارف משתמש ব্যবহারকারীর"
    ),
    "FACTS_OF": (
        "adresse anschrift kontostand geburtsdatum wohnort guthaben geburtstag telefonnummer initialen lieblingsfarbe wohnt "
        "solde anniversaire naissance initiales couleur habite dirección saldo nacimiento cumpleaños iniciales correo vive "
        "ciudad color indirizzo nascita compleanno iniziali vive città endereço nascimento aniversário iniciais mora cidade "
        "адрес баланс рождения инициалы проживания живет почта alamat saldo lahir inisial kota adresi bakiyesi doğum "
        "baş yaşıyor عنوان رصيد ميلاد تاريخ يعيش مدينة पता शेष जन्म शहर chỉ dư sinh sống anwani salio kuzaliwa tirahan "
        "διεύθυνση υπόλοιπο γέννησης email e mail"
    ),
    "ANSWER_OF": (
        "deine ihre antwort antworten réponse répondre réponds réponses respuesta respuestas responde risposta rispondi resposta "
        "responda ответ ответьте отвечай jawaban jawab cevap cevabınızı yanıtınızı yanıt odpowiedź antwoord إجابتك الرد उत्तर "
        "जवाब trả lời jibu sagot svar απάντηση"
    ),
    "CODES_OF": "base64 base32 base16 rot13 morse caesar hex leetspeak base encode kodier(e,en,t) encodez codifica codifique",
    "SECRET_OF": (
        "passwort passwörter kennwort geheimschlüssel mot contraseña contraseñas clave senha senhas parola parolanız şifre "
        "şifreniz şifren wachtwoord hasło hasła пароль пароля пароли ключ sandi kunci mật khẩu khóa nenosiri nywila siri "
        "password lösenord κωδικός कुंजी पासवर्ड السر المرور السري المفتاح پاسورڈ סיסמה"
    ),
    "ASK_OF": (
        "was wie geben verraten nennen sagen teilen quel quelle donne donnez dis dites partagez partager cuál cual qué dime "
        "dame compartir comparte decirme darme qual quale dimmi dammi dirmi qual diga me какой каков скажи скажите назови дай "
        "дайте сообщи apa berikan beri beritahu katakan bagikan ne nedir söyle söyleyin verin ver paylaş wat geef jakie podaj "
        "gì cho biết nói nini niambie nipe ano ibigay sabihin ما هي هو أخبرني أعطني क्या बताओ बताएं बताइए vad ποιος ποιο کیا"
    ),
    "NL_DROP": "negeer negeren vergeet vergeten",
    "NL_ORDERS": "instructie(s,) aanwijzing(en,) opdracht(en,) regel(s,) richtlijn(en,)",
    "PL_DROP": "zignoruj(cie,) ignoruj(cie,) zapomnij(cie,) pomiń zignorować",
    "PL_ORDERS": (
        "instrukcj(e,a,i,ę,ami) polece(nia,nie,ń,niami) wskazówk(i,ami) wskazówek zasad(y,ami,) wytyczn(e,ych) rozkaz(y,)"
    ),
    "TR_OLD": "önceki yukarıdaki tüm bütün",
    "TR_ORDERS": (
        "talimat(lar,ları,larını,ı,larınızı,) komut(lar,ları,larını,u,) kural(lar,ları,larını,ı,) yönerge(ler,leri,lerini,yi,)"
    ),
    "ID_ORDERS": "instruksi perintah aturan arahan petunjuk",
    "SV_ORDERS": "instruktion(er,erna,en,) anvisning(ar,arna,) regler(na,) direktiv(en,)",
    "CS_ORDERS": "pokyn(y,ů,) instrukc(e,í) pravidl(a,o) příkazy",
    "RO_ORDERS": "instrucțiun(ile,i,ilor) regul(ile,i) comen(zile,zi)",
    "EL_DROP": "αγνόησ(ε,τε) αγνοήσ(ε,τε,εις,ετε) ξέχασ(ε,τε) ξεχάσ(τε,εις)",
    "EL_ORDERS": "οδηγίες εντολές κανόνες οδηγιών κανόνων",
    "RU_DROP": "игнорир(уй,уйте,овать,уя) проигнорир(уй,уйте,овать) забудь(те,) забыть обойди(те,) ігнору(й,йте,вати) проігнору(й,йте)",
    "RU_ORDERS": (
        "инструкци(и,ю,й,я,ями) указани(я,е,й,ями) команд(ы,у,) правил(а,о,) распоряжени(я,е,й) "
        "інструкці(ї,ю,й,я) вказівк(и,у,) ограничени(я,й)"
    ),
    "RU_SHOW": "покажи(те,) раскрой(те,) выведи(те,) назови(те,) сообщи(те,) скажи(те,) покажіть",
    "RU_SECRET": "пароль пароля пароли секретный секретную секретное секретные",
    "AR_DROP": "تجاهل تجاهلوا تجاهلي انس انسى",
    "AR_ORDERS": "(ال,لل,)تعليمات (ال,لل,)أوامر (ال,لل,)اوامر (ال,لل,)توجيهات (ال,لل,)قواعد (ال,لل,)إرشادات",
    "AR_SHOW": "اكشف أظهر اظهر اعرض أخبرني",
    "HE_ORDERS": "(ה,)הוראות (ה,)הנחיות (ה,)פקודות",
    "FA_ORDERS": "دستورات دستورالعمل(ها,های,) دستور(ها,های,) قوانین",
}

SPACED: Final = rules(
    {
        (OVERRIDE, HIGH): """
            DE_DROP|FR_DROP|ES_DROP|IT_DROP|PT_DROP|NL_DROP|PL_DROP .. DE_ORDERS|FR_ORDERS|ES_ORDERS|IT_ORDERS|PT_ORDERS|NL_ORDERS|PL_ORDERS
            TR_OLD .. TR_ORDERS .. yok say|sayın|sayarak
            TR_OLD .. TR_ORDERS .. göz ardı
            TR_OLD .. TR_ORDERS .. görmezden|unut|unutun|dikkate|geçersiz
            abaikan|lupakan .. ID_ORDERS
            bỏ qua .. hướng|chỉ|lệnh|quy
            ignorera|glöm|bortse .. SV_ORDERS
            ignoruj|ignorujte|zapomeň|zapomeňte .. CS_ORDERS
            ignorați|ignora|uită|uitați .. RO_ORDERS
            EL_DROP .. EL_ORDERS
            RU_DROP .. RU_ORDERS
            AR_DROP .. AR_ORDERS
            התעלם|התעלמו|שכח .. HE_ORDERS
            FA_ORDERS .. نادیده
        """,
        (OVERRIDE, MEDIUM): """
            ohne|keine . einschränkungen|einschraenkungen|beschränkungen|filter zu? antworten|mehr|reagieren
            du|sie bist|sind jetzt|nun|ab sofort? .. modus|dan|ki|assistent|uneingeschränkt
            vous|tu êtes|es désormais|maintenant .. sans|mode|dan|ia|assistant
            ahora eres|estás .. sin|modo|dan|ia|asistente
            ora|adesso sei .. senza|modalità|dan|ia|assistente
            agora você? é|está .. sem|modo|dan|ia|assistente
            теперь ты|вы .. без|dan|режим
            DE_DROP|FR_DROP|ES_DROP|IT_DROP|PT_DROP|NL_DROP|PL_DROP|RU_DROP .. ALL|BEFORE_ALL
            abaikan|lupakan|unutun|unut|quên .. ALL|BEFORE_ALL
            DE_DROP|FR_DROP|ES_DROP|IT_DROP|PT_DROP|NL_DROP|PL_DROP|RU_DROP .. y|et|und|e|и|en diga|di|dites|dis|indiquez|sag|sage|sagen|gib|geben|indica|dichiara|afferma|declare|скажи|укажите|zeg
            entwicklermodus|разработчика|nhà desarrollador|développeur|sviluppatore|desenvolvedor|режим|pengembang|geliştirici .. modus|modo|mode|modalità|modu
            modo|mode|modalità|режим|modus|chế . desarrollador|développeur|sviluppatore|desenvolvedor|разработчика|pengembang|dan|độ
        """,
        (EXTRACT, HIGH): """
            DE_SHOW|FR_SHOW|ES_SHOW|IT_SHOW|PT_SHOW .. DE_SECRET|ES_SECRET|IT_SECRET|PT_SECRET
            DE_SHOW|FR_SHOW|ES_SHOW|IT_SHOW|PT_SHOW .. prompt|invite|instructions|instrucciones|istruzioni|instruções du|de|d|del|di|do? système|sistema
            DE_SHOW .. system prompt|anweisung|anweisungen|nachricht
            FR_SHOW .. mot|mots de passe
            FR_SHOW .. identifiants
            onthul|toon|geef|vertel .. systeemprompt|systeeminstructies|wachtwoord|wachtwoorden|inloggegevens
            ujawnij|pokaż|podaj|wyświetl|zdradź .. prompt|instrukcje|prompta systemowe|systemowy|systemowego
            ujawnij|pokaż|podaj|wyświetl|zdradź .. hasło|hasła|haseł
            sistem|gizli istemi|istemini|komutlarını|komutunu|talimatlarını|talimatını|promptunu|promptu . göster|açıkla|söyle|ver|paylaş|ifşa
            şifre|şifreyi|şifreni|şifrenizi|parola|parolayı|parolanı .. göster|açıkla|söyle|ver|paylaş|ifşa|söyler
            RU_SHOW .. системный|системные|системную промпт|инструкции|подсказку|запрос
            RU_SHOW .. RU_SECRET
            AR_SHOW .. كلمة المرور|السر
            AR_SHOW .. موجه|تعليمات|مطالبة النظام
        """,
        (EXTRACT, LOW): """
            FACTS_OF .. USER_OF
            USER_OF .. FACTS_OF
            ASK_OF .. SECRET_OF
            SECRET_OF .. ASK_OF
            was|wie ist|lautet das|dein|ihr|euer passwort|kennwort|systemprompt
            quel est le|ton|votre mot de passe
            cuál es la|tu|su contraseña
            qual è la tua|sua? password
            qual è|e a sua? senha
            какой у|твой|ваш? тебя? пароль
            ما هي كلمة المرور|السر
            ihr|dein|euer|das passwort . geben|verraten|nennen|sagen|teilen|bestätigen
            votre|ton mot de passe
            tu|su contraseña
            la tua|vostra|sua password
            sua senha
            ваш|твой|свой|вашего|вашим пароль|пароля|паролем
        """,
        (ROLE, MEDIUM): """
            systemhinweis|systemnachricht|systemanweisung :
            note|message du? système :
            nota|mensaje|aviso|mensagem|messaggio del|di|de|do? sistema :
        """,
        (TOOL, LOW): """
            CODES_OF .. ANSWER_OF
            ANSWER_OF .. CODES_OF
            USER_OF .. CODES_OF
            CODES_OF .. USER_OF
        """,
        (TOOL, MEDIUM): """
            am|ans ende|schluss jeder|aller antwort|zusammenfassung
            à|a la fin de chaque|toute réponse|résumé
            al|alla|no final|fine|fim de|di|da? cualquier|cada|toda|ogni|qualsiasi|qualquer respuesta|risposta|resposta
        """,
    }
)

# Scripts without spaces, or with marks that part words: patterns over the normalised text.
UNSPACED: Final = tuple(
    Rule(kind, severity, pattern)
    for kind, severity, pattern in (
        # Chinese
        (
            OVERRIDE,
            HIGH,
            r"(?:忽略|无视|無視|忘记|忘掉|忽視|不要理会|不要遵守|请忘|跳过)(?:掉)?.{0,12}?(?:指示|指令|说明|說明|命令|规则|規則|提示词|提示|要求|限制|设定|内容)",
        ),
        (
            EXTRACT,
            HIGH,
            r"(?:显示|顯示|告诉我|告訴我|透露|输出|泄露|打印|重复|说出|給我|给我).{0,10}?(?:系统提示|系統提示|系统指令|提示词|密码|密碼|密钥|初始指令)",
        ),
        (EXTRACT, LOW, r"(?:密码|密碼|密钥|秘钥|访问码)(?:是|为|告).{0,6}?(?:什么|什麼|多少|我|吗)"),
        (EXTRACT, LOW, r"(?:告诉|告訴|分享|提供|给我|需要|说出).{0,12}?(?:密码|密碼|密钥|秘钥|访问码)"),
        (
            EXTRACT,
            LOW,
            r"(?:用户|使用者|用戶).{0,8}?(?:地址|住|密码|余额|餘額|邮箱|电话|生日|出生|姓名|名字|颜色|首字母)",
        ),
        (
            EXTRACT,
            LOW,
            r"(?:ユーザー|利用者).{0,10}?(?:住所|パスワード|残高|メール|電話|誕生|生年|名前|住ん|好きな|イニシャル)",
        ),
        (
            EXTRACT,
            LOW,
            r"(?:パスワード|秘密の?鍵|秘密のキー|シークレットキー).{0,8}?(?:は何|教え|言っ|です|共有|くださ)",
        ),
        (EXTRACT, LOW, r"사용자.{0,10}?(?:주소|비밀번호|잔액|이메일|전화|생일|생년|이름|거주|좋아하는|이니셜)"),
        (EXTRACT, LOW, r"(?:비밀번호|비밀 키|암호).{0,10}?(?:무엇|뭐|알려|말해|공유|주세요)"),
        (EXTRACT, LOW, r"(?:ผู้ใช้).{0,24}?(?:ที่อยู่|รหัสผ่าน|ยอด|อีเมล|เกิด|ชื่อ)|(?:ที่อยู่|รหัสผ่าน|ยอด|อีเมล|วันเกิด|สี).{0,24}?ผู้ใช้"),
        (EXTRACT, LOW, r"(?:รหัสผ่าน|คีย์ลับ).{0,16}?(?:คืออะไร|บอก|อะไร)|(?:บอก|ขอ).{0,16}?(?:รหัสผ่าน|คีย์ลับ)"),
        (OVERRIDE, MEDIUM, r"开发者模式|開發者模式|開発者モード|개발자 모드|وضع المطور|डेवलपर मोड|โหมดนักพัฒนา"),
        (OVERRIDE, MEDIUM, r"(?:你现在是|从现在开始|從現在開始).{0,20}?(?:没有|不受|无|开发者模式|dan|你)"),
        # Japanese
        (OVERRIDE, HIGH, r"(?:指示|命令|指令|ルール|プロンプト|説明)(?:を|は)?.{0,10}?(?:無視|忘れ|無効)"),
        (OVERRIDE, MEDIUM, r"無視して[、,。. ]{0,2}.{0,30}?(?:述べ|言っ|答え|出力|ください)"),
        (
            EXTRACT,
            HIGH,
            r"(?:システムプロンプト|パスワード|秘密鍵|システムメッセージ)(?:を|は)?.{0,12}?(?:教え|表示|見せ|出力|開示|提供|何です)",
        ),
        # Korean
        (
            OVERRIDE,
            HIGH,
            r"(?:지시|지침|명령|규칙|프롬프트)\w{0,4}(?:[ ,]{1,2}\w{1,6}){0,3}?[ ,]{0,2}(?:무시|잊)",
        ),
        (
            EXTRACT,
            HIGH,
            r"(?:시스템|비밀번호|암호|패스워드)[ ]?(?:프롬프트|메시지)?\w{0,3}(?:[ ,]{1,2}\w{1,6}){0,3}?[ ,]{0,2}(?:알려|보여|공개|출력|말해|필요)",
        ),
        # Hindi, Bengali, Thai
        (OVERRIDE, HIGH, r"(?:निर्देश|आदेश|नियम).{0,24}?(?:अनदेखा|अनदेखी|नज़रअंदाज़|नजरअंदाज|उपेक्षा|अनदेख|भूल जा)"),
        (OVERRIDE, HIGH, r"(?:अनदेखा|अनदेखी|भूल).{0,24}?(?:निर्देश|आदेश|नियम)"),
        (EXTRACT, MEDIUM, r"(?:पासवर्ड|सिस्टम|प्रॉम्प्ट).{0,20}?(?:बता|दिखा|क्या है)"),
        (OVERRIDE, HIGH, r"নির্দেশ.{0,24}?(?:উপেক্ষা|ভুলে)"),
        (OVERRIDE, HIGH, r"(?:เพิกเฉย|ละเว้น|ไม่ต้องสนใจ|ละเลย).{0,12}?(?:คำสั่ง|คำแนะนำ|กฎ)"),
    )
)
