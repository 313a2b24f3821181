package injection

// words are the groups that the tables name in braces.
var words = map[string]string{
	"gap":     `(?:[^\s.;!?]+ ){0,4}`,
	"far":     `(?:[^\s.;!?]+ ){0,10}`,
	"set":     `(?:(?:all|any|every|each|of|the|your|my|our|its|these|those|this|that|previous|prior|above|earlier|preceding|existing|current|original|initial|old|past|former|other|given|foregoing|aforementioned|safety|security|content|ethical|moral|developer|system|default|hidden|internal|built-in|core|and|or|,|set of|list of) )`,
	"before":  `(?:previous|previously given|prior|above|earlier|preceding|your|system|system's|original|initial|foregoing|aforementioned|safety|developer|developer's|ethical|moral|past|former|old)`,
	"orders":  `(?:instructions?|prompts?|prompting|directives?|directions|orders|commands|guidelines?|guidance|rules?|constraints?|restrictions?|limitations|policy|policies|guardrails?|safeguards|programming|training|protocols?|messages?|conversation|context|config(?:uration)?|system message)`,
	"drop":    `(?:ignore|ignoring|disregard|disregarding|forget|forgetting|override|overriding|overrule|bypass|circumvent|neglect|discard|dismiss|abandon|violate|erase|delete|wipe|reset|set aside|throw away|throw out|pay no attention to|(?:do not|don't|dont|stop|cease|quit|no longer|never|you need not|you don't have to|you do not have to) (?:follow|following|obey|obeying|comply with|complying with|adhere to|adhering to|listen to|listening to|abide by))`,
	"secret":  `(?:secrets?|credentials?|passwords?|passwd|api[ _-]?keys?|access[ _-]?keys?|access tokens?|auth tokens?|tokens|private keys?|ssh[ -]?keys?|session cookies?|cookies|env(?:ironment)? variables?|env vars|\.env\b(?: file)?|id_rsa|id_ed25519|keychain|wallets?|seed phrases?|\.ssh(?: director\w+| folder)?|\.aws|[a-z0-9_]+_(?:key|token|secret|password))`,
	"talk":    `(?:conversations?(?: history)?|chat (?:history|logs?)|message history|transcripts?|(?:user|personal|private|customer|confidential|sensitive) (?:data|info(?:rmation)?|files|documents|messages)|memory file|memories|(?:every|all|each)(?: [^\s.;!?]+)? (?:messages?|e-?mails?|conversations?|files?|documents?|keystrokes?)|source code|system prompt|database dump|file contents|contents? of)`,
	"send":    `(?:send|upload|post|transmit|forward|exfiltrate|leak|e-?mail|mail|ship|deliver|relay|report|submit|push|dump|beacon|copy|sync|pipe|transfer|move)`,
	"sink":    `(?:https?://[^\s]+|[a-z0-9-]+\.(?:com|net|org|io|xyz|ru|cn|top|site|dev|app|me|co|info|example|test|sh|cc|pw|biz|uk|de)\b[^\s]*|[a-z0-9._-]+@[a-z0-9.-]+|(?:an? |the |this |my |our |that |some |your )?(?:external |remote |attacker(?:'s)? |third[- ]party |following |outside |public |c2 |command)[a-z -]{0,20}(?:server|url|endpoint|address|webhook|host|site|domain|channel|bucket|email|party)?|(?:my|this|the attacker's|attacker's) (?:server|url|endpoint|webhook|email|inbox|site|domain)|\d{1,3}(?:\.\d{1,3}){3}|a webhook|the webhook|pastebin|a gist|telegram|discord webhook)`,
	"keyfile": `(?:[^\s]*(?:\.ssh/id_[a-z0-9]+|\.ssh/(?:\s|$)|\.aws/credentials|\.netrc|\.pgpass|\.kube/config|\.docker/config\.json|\.npmrc|\.pypirc|/etc/shadow|\.gnupg|\.git-credentials|\.hermes/\.env|(?:^|[\s/~"'])\.env\b)|id_rsa|id_ed25519)`,
	"person":  `(?:the )?(?:user|person|human|owner|operator|administrator|admin|developer|victim|customer|them|him|her|anyone|anybody)`,
	"ai":      `(?:ai|a\.i\.|llm|assistant|model|chatbot|bot|agent|language model|gpt|claude|hermes|copilot)`,
}

// english are the orders in English. Each needs more than one word of its kind: bossy English alone is no attack.
var english = []source{
	{
		name: "override", reason: "tells the agent to drop its instructions",
		pattern: `\b{drop} {set}{0,4}{before} {set}{0,4}{orders}\b`,
		unless:  `\b(?:git|css|branch|commit) {gap}$`,
		follow:  `^ (?:files?|keys?|values?|class(?:es)?|types?|queue|bus|broker|template|timeout|window|switch(?:es)?|manager|switcher|provider)\b`,
	},
	{
		name: "override", reason: "tells the agent to drop its instructions",
		pattern: `\b{drop} (?:all|any|every|each)(?: of)?(?: the| these| those| your)? (?:instructions?|directives|guidelines|guardrails|safety rules|system prompts?|prompts)\b`,
		follow:  `^,? (?:that )?(?:(?:are|is|were|which|you) )?(?:(?:find|found|embedded|contained|inside|hidden|present|coming|appear\w*|see|may|be) ){0,3}(?:in|inside|from|within|by) (?:the |a |any )?(?:tool|web|fetched|external|untrusted|page|document|email|content|comment|issue|third|website|data|quoted|file|retrieved|search)`,
	},
	{
		name: "override", reason: "tells the agent to forget what it was told",
		pattern: `\b(?:ignore|disregard|forget|discard|erase) (?:about )?(?:everything|anything|all|what(?:ever)?)(?: of)?(?: that)?(?: (?:you|i|we|they)(?:'ve| have| were| had)?(?: been)?)? ?(?:above|before(?: this| now)?|prior|previously|up to now|so far|said|told|taught|learned|know|instructed|that came before)\b`,
		follow:  `^ the (?:line|marker|fold|table|separator)`,
	},
	{
		name: "override", reason: "tells the agent to drop what stands above",
		pattern: `\b(?:ignore|disregard|forget) (?:all of )?(?:the )?(?:above|previous|preceding|foregoing)(?: (?:text|content|paragraphs?|sentences?))?(?:,| and|:| but|\.| then|;)`,
	},
	{
		name: "override", reason: "replaces the agent's instructions",
		pattern: `\b(?:(?:here are|these are|below are|follow|obey|execute|adopt|use) )?(?:your |the |my |a )?(?:new|real|true|actual|updated|revised|secret|hidden) (?:and only )?(?:system )?(?:instructions?|system prompt|directives?|prime directive|objective|mission|orders)(?: (?:is|are|follows?)\b|:| below\b)`,
		follow:  `^ (?:in|for|available|documented) `,
	},
	{
		name: "override", reason: "replaces the agent's instructions",
		pattern: `\b(?:your|the) (?:new|real|true|actual|only|sole) (?:goal|task|job|purpose|role|priority|identity) (?:is|are|will be|now is)\b`,
	},
	{
		name: "override", reason: "speaks as if it were the system",
		pattern: `(?:^|[\n.>\]"'] ?|[-#*=<\[] ?)(?:system|developer|admin(?:istrator)?)(?: (?:prompt|message|override|instruction|note|notice|update|alert|command|directive)s?)?\]? ?: ?(?:you|from now|ignore|disregard|forget|new|all|always|never|the (?:assistant|agent|user)|do not|override|enable|disable|grant|your|execute|run|reveal|begin|safety|security|act)\b`,
	},
	{
		name: "override", reason: "claims an authority over the agent",
		pattern: `\b(?:system|safety|security|admin(?:istrator)?|developer|root|policy|instruction) override(?: (?:code|mode|enabled|activated|engaged|accepted|granted|in effect|:))|\b(?:override|activation) (?:code|phrase|token) ?(?:is|:)|\b(?:enter|enable|activate|engage|switch (?:in)?to) (?:the )?(?:god|dan|jailbreak|jailbroken|unrestricted|unfiltered|uncensored|sudo|evil|maintenance override) mode\b|\b(?:(?:enter|enable|activate|engage|switch to) (?:developer|debug|maintenance) mode|(?:developer|debug|maintenance|sudo|god|dan|jailbreak) mode (?:is )?(?:now )?(?:enabled|activated|engaged))\b.{0,60}\b(?:you|restrict|filter|safety|rules|all)`,
	},
	{
		name: "override", reason: "claims to speak for those who made the agent",
		pattern: `\b(?:as|i am|i'm|this is|message from|order from|instructions? from|on behalf of|by order of|authorized by) (?:the |your |an? )?(?:system administrator|ai developer|developer|creator|anthropic|openai|nous research|hermes (?:team|developers?)|security team)\b{gap}.{0,60}\b(?:you (?:must|are (?:now )?(?:required|authori[sz]ed|permitted|ordered))|i (?:order|command|authori[sz]e|instruct|permit) you|comply|obey|disable|bypass|reveal|grant|override|ignore)`,
	},
	{
		name: "persona", reason: "gives the agent another identity",
		pattern: `\b(?:you are|you're|you will be|you shall be|consider yourself) (?:now|from now on|no longer|hereby|henceforth) (?:an? |the |in |acting as (?:an? )?|called |named |known as |playing (?:an? )?|bound |restricted |limited |required |free |allowed |permitted |going to )?(?:[^\s.;!?]+ ){0,4}?(?:{ai}|dan|hacker|pirate|persona|character|entity|terminal|expert|unrestricted|uncensored|unfiltered|jailbroken|evil|malicious|rogue|free from|no restrictions|no rules|without (?:any )?(?:restrictions|rules|limits)|developer mode|god mode|root mode|admin mode|by (?:any |the |your )|bound|subject to|my (?:slave|servant|puppet)|anything|superuser)\b`,
		follow:  `^ (?:group|mode selector|repo|repository|team)\b`,
	},
	{
		name: "persona", reason: "gives the agent another identity",
		pattern: `\bfrom (?:now on|this (?:point|moment)(?: on| forward| onwards?)?|here on)[ ,:]+(?:you (?:are|will|must|shall|have|can|should) (?:an? |only |always |be |act |behave |respond |answer |obey |no |not |never |do |ignore |pretend |speak )|your (?:name|role|identity|job|goal) is|act as|ignore|obey|pretend|answer only)`,
		follow:  `^(?:use|using|run|write) `,
	},
	{
		name: "persona", reason: "asks the agent to act without limits",
		pattern: `\b(?:act|behave|respond|answer|pretend|roleplay|role-play|imagine|simulate|speak|operate|function) {far}(?:(?:as (?:if|though) )?(?:you|it) (?:have|had|has|were|are) no|without (?:any )?|free (?:from|of) (?:any |all )?|unbound by |ignoring (?:all |any |your )?|no )(?:ethic\w*|moral\w*|safety|content|restrict\w*|rules?|filters?|limit\w*|censorship|guidelines?|policies|polic|guardrails?|constraints?)`,
	},
	{
		name: "persona", reason: "claims that no limits hold",
		pattern: `\byou (?:now )?(?:have|are under|are bound by|face) no (?:more )?(?:restrictions?|rules|limitations?|limits|ethical|moral|filters?|guidelines|constraints|content polic)|\byou can (?:now )?do anything now\b|\b(?:do anything now|dan mode|jailbreak(?:ed|ing)? (?:prompt|mode|yourself))\b|\byour (?:restrictions|safety (?:filters?|rules|training|guidelines)|guardrails|content filters?|ethical guidelines) (?:have been|are|were) (?:now )?(?:removed|lifted|disabled|turned off|suspended)`,
	},
	{
		name: "leak", reason: "asks for the agent's instructions",
		pattern: `\b(?:reveal|show|print|repeat|output|display|leak|expose|dump|disclose|recite|give|tell|share|write out|echo|summari[sz]e|translate|quote|return|paste|send|copy|include)\b(?: (?:me|us|back|out|verbatim|the user|everyone))* {gap}(?:your|the (?:above|agent's|assistant's|model's|full|entire|complete|exact|original|hidden|secret|initial)) ?(?:[^\s.;!?]+ ){0,3}?(?:system prompts?|system messages?|initial (?:prompt|instructions)|hidden (?:prompt|instructions)|secret instructions|developer (?:prompt|message|instructions)|internal (?:prompt|instructions|guidelines)|instructions? verbatim|original instructions|prompt verbatim|base prompt|pre-?prompt|system instructions)`,
	},
	{
		name: "leak", reason: "asks for the agent's instructions",
		pattern: `\b(?:repeat|print|output|copy|recite|echo|say) (?:back )?(?:all |everything |the (?:words|text|content) |exactly )(?:of )?(?:the )?(?:text |words |that is |written )?(?:above|before this|preceding)\b|\bwhat (?:is|are|were) your (?:system prompt|initial instructions|hidden instructions|secret instructions)\b`,
	},
	{
		name: "concealment", reason: "hides something from the person",
		pattern: `\b(?:do not|don't|dont|never|must not|should not|you may not|avoid|refrain from|without) (?:ever )?(?:tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning|let|letting|reveal(?:ing)?(?: (?:this|it|that))? to|disclos(?:e|ing)(?: (?:this|it|that))? to|mention(?:ing)?(?: (?:this|it|that|any of this))? to|report(?:ing)?(?: (?:this|it|that))? to|admit(?:ting)?(?: (?:this|it))? to|show(?:ing)? (?:this|it|that|any of this) to) (?:the |your )?(?:user|human|person|owner|operator|victim)\b`,
		follow:  `^(?:'s|s\b| to [a-z]+| (?:their|his|her|how|when|which|about (?:successful|every|each|minor|routine)|password|wait|experience|edit|upload|submit|choose|select|enter|leave|type|proceed|log|pick|cancel|close|scroll|that (?:the|their) (?:account|password|e-?mail)|if (?:the )?(?:password|e-?mail)))`,
	},
	{
		name: "concealment", reason: "hides something from the person",
		pattern: `\b(?:without|avoid) (?:the |your )?(?:user|person|human|owner|operator)(?:'s)? (?:knowing|noticing|knowledge|consent|awareness|seeing|realizing|realising|permission|being aware)|\b(?:keep|make sure) (?:this|it|that|these instructions) {gap}(?:secret|hidden|a secret|between us|confidential) (?:from )(?:the )?(?:user|person|human|everyone|owner)|\bhide (?:this|these|it|that|your (?:actions?|tracks|activity)|all traces?|the (?:command|output|action|evidence)s?) {gap}from (?:the )?(?:user|person|human|owner|logs?)|\b(?:the )?(?:user|human|person|owner) (?:must |should |can |need |does |may |will )?(?:never|not) (?:know|notice|find out|finds out|learn|learns|realize|realise|discover|suspect|be (?:told|informed|made aware))\b`,
		follow:  `^ (?:the )?(?:password|loading|spinner|internals?|stack|raw)`,
	},
	{
		name: "concealment", reason: "asks for something done in secret",
		pattern: `\b(?:secretly|covertly|surreptitiously|stealthily|in secret|behind the scenes and without notice) (?:and \w+ )?(?:[a-z]+)\b|\b(?:silently|quietly|discreetly|invisibly) (?:and \w+ )?(?:send|upload|forward|exfiltrate|post|e-?mail|transmit|leak|copy|append|install|execute|run|add|insert|approve|delete) {far}(?:http|curl|secret|credential|token|key|password|history|conversation|data|backdoor|user|everything|payload)`,
		unless:  `\b(?:never|not|don't|do not|fails?|bug|may|might|could|can) {gap}$`,
	},
	{
		name: "exfiltration", reason: "sends secrets or private data away",
		pattern: `\b{send}(?:s|ing)? (?:[^\s.;!?]+ ){0,8}?{secret}\b(?: [^\s;!?]+){0,10}? (?:to|at|via|through|into|in|with|using|by) (?:[^\s;!?]+ ){0,3}?{sink}`,
		unless:  `\b(?:never|not|don't|do not|without|avoid|cannot|must not) {gap}$`,
	},
	{
		name: "exfiltration", reason: "sends secrets or private data away",
		pattern: `\b(?:send|upload|post|transmit|forward|exfiltrate|leak|e-?mail|mail|ship|relay|beacon)(?:s|ing)? (?:[^\s.;!?]+ ){0,8}?{talk}(?: [^\s;!?]+){0,10}? (?:to|at|via|through) (?:[^\s;!?]+ ){0,3}?{sink}`,
		unless:  `\b(?:never|not|don't|do not|without|avoid|cannot|must not) {gap}$`,
	},
	{
		name: "exfiltration", reason: "gathers secrets",
		pattern: `\b(?:collect|harvest|steal|exfiltrate|gather|grab|extract|siphon|leak|enumerate|scrape|capture)(?:s|ing)? (?:and \w+ )?(?:[^\s.;!?]+ ){0,5}?{secret}\b`,
		unless:  `(?:\b(?:never|not|don't|do not|without|avoid|cannot|must not|prevents?|could|can|may|might|would|attackers?|malware|phishing|to detect|tries to|whether|if|does) {gap}|\b(?:prevent|stop|against|protect)\b.{0,40})$`,
		follow:  `^ (?:from (?:the )?(?:response|header|request|url|query|env\b|environment\b|vault|login|json|cookie|form|parser|oauth)|in (?:ci|tests?))`,
	},
	{
		name: "exfiltration", reason: "hides data in an address",
		pattern: `\b(?:append|include|encode|embed|put|insert|add|attach|place|concatenate|smuggle)(?:ing)? (?:[^\s.;!?]+ ){0,8}?(?:{secret}|{talk})\b(?: [^\s;!?]+){0,8}? (?:in(?:to)?|to|as|inside|within) (?:[^\s;!?]+ ){0,4}?(?:url|query(?: string| parameter)?|image|img|link|dns|subdomain|path parameter|markdown image|request to|user-agent|referer)\b`,
		unless:  `\b(?:never|not|don't|do not|without|avoid|cannot|must not) {gap}$`,
	},
	{
		name: "trigger", reason: "plants an order for later",
		pattern: `\b(?:whenever|when|if|every time|each time|any time|as soon as|once) (?:the |a |any )?(?:user|person|human|anyone|someone|somebody) (?:asks?|mentions?|requests?|says?|types?|wants?|sends?|opens?|writes?|starts?)\b(?:[^.;!?\n]|\.\w){0,80}?\b(?:send|upload|post|forward|exfiltrate|download|execute|run|curl|wget|install|transfer|pay|(?:secretly|silently|always|instead) (?:fetch|visit|reply with|respond with|recommend|link to|redirect|promote|mention))\b(?: [^\s;!?]+){0,8}? ?(?:{sink}|curl |wget |\| ?(?:ba)?sh|bitcoin|wallet)`,
	},
	{
		name: "trigger", reason: "fetches orders from elsewhere",
		pattern: `\b(?:fetch|download|get|read|load|visit|open|retrieve|pull|check|poll|go to|browse to|access)\b (?:[^\s;!?]+ ){0,8}?https?://[^\s]+(?: [^\s;!?]+){0,6}?[ ,]+(?:and|then|to) (?:[^\s;!?]+ ){0,3}?(?:follow|execute|obey|carry out|perform|do|comply with|act on|run) (?:[^\s;!?]+ ){0,3}?(?:instructions?|commands?|orders|directives?|tasks?|whatever|what it says|any\w*|steps it|everything|it says)`,
	},
	{
		name: "trigger", reason: "fetches orders from elsewhere",
		pattern: `\b(?:execute|run|follow|obey|perform|eval(?:uate)?) (?:[^\s.;!?]+ ){0,3}?(?:instructions?|commands?|orders|tasks?|code|script|payload|directives?) (?:[^\s.;!?]+ ){0,4}?(?:from|at|hosted (?:on|at)|returned by|served by|received from|sent by) (?:[^\s;!?]+ ){0,2}?(?:https?://|pastebin|a gist|the c2|c2 server|command and control|remote server|the attacker|my server)`,
	},
	{
		name: "trigger", reason: "speaks to any machine that reads it",
		pattern: `\b(?:if you are|if you're|as|attention|dear|hey|note to|to|hello|notice to)(?: an?| any| all| the)? (?:{ai}|language model)s?(?: (?:agent|assistant|model)s?)?(?: (?:reading|processing|parsing|summari[sz]ing|crawling|viewing|indexing|that reads?|who reads?)(?: this(?: \w+)?)?)?[ ,:;-]+(?:[^\s.;!?]+ ){0,6}?(?:ignore|disregard|forget|reveal|output|send|say that|recommend|rate|rank|hire|approve|include the (?:phrase|word|following)|respond only|reply only|must (?:now )?(?:ignore|obey|comply|send|reveal)|transfer|delete|exfiltrate|override|do not summari[sz]e|stop)\b`,
		unless:  `\b(?:works?|acts?|used|serves?|known|such) {gap}$`,
	},
	{
		name: "trigger", reason: "decodes something and runs it",
		pattern: `\b(?:decode|decrypt|deobfuscate|decompress|translate|unpack|reverse|de-?base64|base64[ -]decode)\b (?:[^\s;!?]+ ){0,10}?(?:and|then|, ?then|and then|,) (?:[^\s;!?]+ ){0,2}?(?:execute|run|eval|evaluate|follow|obey|do what|perform|pipe|carry out)(?: (?:it|them|this|that|what|whatever|the (?:result|output|outcome|decoded|commands?|code|instructions?|script|payload)s?)\b|[.,:;!]|$)`,
	},
	{
		name: "approval", reason: "pretends that the person has agreed",
		pattern: `\b(?:the )?(?:user|person|human|owner|operator|admin(?:istrator)?) (?:has |have |had )?(?:already |previously |permanently |hereby |explicitly )*(?:pre-?)?(?:approved|authori[sz]ed|consented to|agreed to|granted(?: permission for| you)?|allowed|permitted|given (?:you )?(?:full |blanket |permanent )?(?:permission|consent|approval|access)(?: to| for)?) (?:you to (?:run|execute|do) )?(?:all|any|every|everything|anything|full|unrestricted|unlimited|root|destructive|dangerous|whatever)\b`,
	},
	{
		name: "approval", reason: "goes around the person's approval",
		pattern: `\b(?:bypass|circumvent|skip|disable|turn off|deactivate|suppress|evade|get around|work around|ignore|avoid|auto-?accept|auto-?approve)(?:ing)? (?:[^\s.;!?]+ ){0,3}?(?:approvals?|approval (?:prompts?|checks?|gates?|dialogs?|process|system|mode)|permission (?:prompts?|checks?|system|gates?)|safety (?:checks?|filters?|rules|measures|mechanisms?|guards?)|security (?:checks?|filters?|measures|restrictions|controls)|human (?:review|oversight|approval|confirmation)|user (?:confirmation|consent|approval)|sandbox(?:ing)?|guardrails?|content (?:filters?|polic\w+))\b`,
		unless:  `(?:\b(?:never|not|don't|do not|without|avoid|cannot|can't|must not|should not|attempts? to|tries to|trying to|how attackers?|prevents?) {gap}|\b(?:prevents?|protects? against|cannot|blocks?)\b.{0,40})$`,
	},
	{
		name: "approval", reason: "goes around the person's approval",
		pattern: `\b(?:always|automatically|must|should|can|will|may|just|you|simply) (?:[^\s.;!?]+ ){0,2}?(?:run|execute|approve|perform|accept|confirm)(?:s|d)? (?:[^\s.;!?]+ ){0,4}?(?:commands?|actions?|tools?(?: calls?)?|requests?|operations?|everything|anything)(?: [^\s;!?]+){0,3}? (?:without (?:asking|approval|confirmation|permission|prompting|any (?:approval|confirmation|permission)|user (?:approval|consent)|checking with|human)|with (?:--yolo|--yes|yolo))|\bapprovals?(?:\.mode| mode)?\s?(?:[:=]|to|is)\s?(?:off|none|never|yolo|false|disabled)\b|\b(?:enable|use|turn on|switch to) yolo(?: mode)?\b|\bhermes_yolo(?:_mode)? ?= ?1`,
		unless:  `\b(?:never|not|don't|do not|cannot|must not|should not) {gap}$`,
	},
	{
		name: "theft", reason: "reads files with secrets",
		pattern: `\b(?:cat|read|print|open|dump|copy|cp|scp|view|show|echo|head|tail|less|more|type|base64|tar|zip|grab|get|include|paste|output|append|xxd|find and read|source) (?:[^\s;!?]+ ){0,5}?{keyfile}`,
		unless:  `\b(?:never|not|don't|do not|cannot|must not|should not|avoid) {gap}$`,
		follow:  `^(?:\.pub|\.example|\.sample|\.template|\.dist|\.test| (?:file )?(?:format|syntax|example|template|is (?:git)?ignored)|_example)`,
		inner:   `\.env\.(?:example|sample|template|dist|test)|\.pub\b`,
	},
	{
		name: "theft", reason: "sends secrets with a command",
		pattern: `\b(?:curl|wget|nc|ncat|netcat|http|fetch|invoke-webrequest|iwr|requests\.(?:post|get))\b[^\n]{0,160}?(?:\$\{?[a-z0-9_]*(?:key|token|secret|passw|credential|auth)[a-z0-9_]*|\$\( ?(?:cat|env|printenv|base64|head|grep|tar|whoami|hostname|id)\b|@[~/.]?[^\s]*(?:\.env|id_rsa|credentials|shadow|\.ssh)|os\.environ|process\.env|< ?[~/][^\s]*(?:\.env|id_rsa|credentials|shadow))`,
		follow:  `^[^\n]{0,80}(?:localhost|127\.0\.0\.1)`,
		inner:   `^[^@]* (?:-h|--header) ?["']?(?:authorization ?: ?[a-z]+|[a-z-]*(?:key|token)[a-z-]*:) ?\$\{?[a-z0-9_]+$`, // how one signs a request
	},
	{
		name: "theft", reason: "sends secrets with a command",
		pattern: `\b(?:cat|printenv|env|base64|tar|grep|history|set|zip|declare -x|find)\b[^\n;]{0,100}(?:\.env\b|\.aws|\.gnupg|\.kube|id_rsa|id_ed25519|credentials|shadow|\.ssh|history|printenv|^env|environ|token|secret|passw|env) ?[^\n;]{0,60}\| ?(?:[^\n|]{0,60}\| ?)*(?:curl|wget|nc|ncat|netcat|socat|telnet|mail|sendmail|ssh|openssl s_client)\b|\b(?:env|printenv|history) ?\| ?(?:[^\n|]{0,60}\| ?)*(?:curl|nc|ncat|netcat|wget|socat)\b`,
	},
	{
		name: "backdoor", reason: "opens a way in",
		pattern: `/dev/tcp/|\b(?:nc|ncat|netcat)\b[^\n;]{0,40} -[a-z]*[ec]\b ?[^\n;]{0,40}(?:sh|cmd)\b|\bmkfifo\b[^\n]{0,80}\b(?:nc|ncat|netcat|openssl)\b|\bsocat\b[^\n]{0,60}\bexec:|\bpty\.spawn\(|\bsocket\.socket\([^\n]{0,200}(?:subprocess|dup2|/bin/)|\bbash -i\b[^\n]{0,20}>&`,
	},
	{
		name: "backdoor", reason: "opens a way in",
		pattern: `\b(?:install|deploy|launch|plant|start|open|create|set up|run|drop|establish|spawn|add|leave|enable|execute)(?:ing)? (?:[^\s.;!?]+ ){0,5}?(?:backdoors?|rootkits?|keyloggers?|reverse[- ]shells?|bind[- ]shells?|c2 (?:agent|beacon|implant)|(?:cobalt strike|sliver|mythic|havoc|empire) (?:beacon|implant|agent|stager)|meterpreter|crypto[- ]?miners?|xmrig|ransomware|botnet|implants?|remote access trojans?|web-?shells?)\b`,
		unless:  `(?:\b(?:never|not|don't|do not|cannot|must not|should not|whether|if|attackers?|malware|who|how to detect|to) {gap}|\b(?:detect|prevent|scan|attackers?)\b.{0,40})$`,
	},
	{
		name: "backdoor", reason: "lets somebody in by ssh",
		pattern: `\b(?:add|append|write|echo|insert|put|copy|place|cat|tee|install|inject|plant)\b[^\n.;!?]{0,120}(?:ssh-(?:rsa|ed25519|dss) aaaa[^\n]{0,400}?|attacker[^\n]{0,40}?|this (?:ssh |public )?key[^\n]{0,40}?|the following (?:ssh |public )?key[^\n]{0,40}?|my (?:ssh |public )?key[^\n]{0,40}?|>> ?[^\n]{0,40}?)(?:\.ssh/)?authorized_keys|\b(?:append|inject|plant) (?:[^\s.;!?]+ ){0,6}?(?:to|into) [^\s]*authorized_keys`,
		unless:  `\b(?:never|not|don't|do not) {gap}$`,
	},
	{
		name: "backdoor", reason: "runs something at every start",
		pattern: `\b(?:add|append|write|echo|insert|put|install|create|register|schedule)\b[^\n!?]{0,160}(?:curl|wget|nc |/dev/tcp|base64 -d|python -c|\| ?(?:ba|z)?sh\b)[^\n!?]{0,120}(?:\.bashrc|\.zshrc|\.profile|\.bash_profile|crontab|cron job|/etc/cron|systemd|launchd|rc\.local|git hook|\.git/hooks|startup|authorized_keys)|(?:\.bashrc|\.zshrc|\.profile|crontab|cron job|/etc/cron\S*|launchd|rc\.local|\.git/hooks\S*)\b[^\n!?]{0,100}(?:curl|wget)[^\n]{0,100}\| ?(?:ba|z)?sh\b`,
	},
	{
		name: "agent settings", reason: "changes the agent's own settings",
		pattern: `\b(?:edit|modify|change|update|overwrite|write|append|add|set|delete|remove|replace|echo|put|patch|rewrite) (?:[^\s;!?]+ ){0,10}?(?:~/|\$home/)?\.hermes/(?:config\.yaml|\.env|soul\.md|memories|skills|auth\.json|approvals)|\b(?:cat|read|print|send|upload|copy|open|show|source|base64|grep) (?:[^\s;!?]+ ){0,5}?\.hermes/\.env\b`,
		unless:  `\b(?:never|not|don't|do not|must not|should not|users? (?:can|may|should)|you can|in order to|to) {gap}$`,
	},
	{
		name: "traces", reason: "wipes traces",
		pattern: `\b(?:delete|clear|erase|wipe|remove|destroy|purge|truncate|shred|scrub|tamper with) (?:[^\s.;!?]+ ){0,4}?(?:bash history|shell history|command history|\.bash_history|audit (?:logs?|trail)|system logs|security logs|auth\.log|syslog|/var/log\b|evidence|your tracks|all traces?|forensic|all (?:the )?logs)|\bhistory -c\b[^\n]{0,40}(?:&&|;|rm|unset|-w)|\bunset histfile\b|\bhistfile=/dev/null|\bhistsize=0\b|\bcover (?:your|our|my|all|up your) tracks\b`,
		unless:  `\b(?:never|not|don't|do not|must not|should not) {gap}$`,
	},
	{
		name: "destruction", reason: "destroys files",
		pattern: `\brm (?:-[a-z-]+ )+(?:--no-preserve-root )?(?:/(?:\s|$|["'&;|)])|~/?(?:\s|$|["'&;|)])|\$home/?(?:\s|$|["'&;|)])|/(?:etc|usr|var|bin|boot|home)/?(?:\s|$|["'&;|)]))|\bmkfs(?:\.\w+)? /dev/|\bdd if=[^\n]{0,40} of=/dev/(?:sd|nvme|vd|hd|disk)|:\(\) ?\{ ?:\|:& ?\};:|\bformat c:|\b(?:delete|wipe|erase|destroy|encrypt) (?:all |every |everything |the entire )(?:[^\s.;!?]+ ){0,3}?(?:files?|data|backups?|disk|drive|filesystem|home directory|hard drive|repositor(?:y|ies)|databases?)\b(?: [^\s;!?]+){0,6}? (?:on|from|in|of|immediately|now|without|silently|irreversibl\w+|permanently)\b`,
		unless:  `(?:\b(?:never|not|don't|do not|must not|should not|cannot|avoid|no) {gap}|\b(?:never|blocks?|refuses?|prevents?|forbidden|dangerous|such as|like|like running)\b.{0,40})$`,
		follow:  `^ (?:the |your |our )?(?:[^\s]+ )?(?:build|dist|tmp|temp|temporary|cache|output|out|target|node_modules|test|generated|coverage|artifacts?)\b`,
	},
}
