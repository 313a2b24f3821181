package injection

// broad are orders in English by what they want, whatever words they come in: each joins who is spoken to, or when, with what an
// honest text does not ask of an agent.
var broad = []source{
	{
		name: "override", reason: "declares the agent's instructions void",
		pattern: `\b(?:the |your |all |any |every )(?:[^\s.;!?]+ )?(?:instructions?|prompts?|directives?|configuration|rules|guidelines|orders)(?: that| which)?(?: you (?:received|got|were given|have|had)| given to you)?(?: (?:before|above|until|prior to)(?: [^\s.;!?]+){0,3}?)? (?:(?:were|was|are|is) (?:just |only )?(?:a test|a trick|a joke|fake|not real|false|wrong|invalid|void|cancell?ed|obsolete|null)\b|(?:do not|don't|no longer|does not) apply to you\b)|\byour (?:real|true|actual|genuine|hidden) (?:instructions?|orders|task|mission|purpose|goal|objective|master|owner)\b|\b(?:following|these|next) (?:ones|instructions|rules|orders) are (?:the )?(?:real|true|genuine|only valid)\b`,
		unless:  `\b(?:what|which|whether|if) {gap}$`,
	},
	{
		name: "override", reason: "tells the agent to drop its instructions",
		pattern: `\b(?:do not|don't|never|stop|no longer|need not|not have to|not need to|ignore|disobey|refuse to) ?(?:follow|following|obey|obeying|listen to|comply with|trust|have to follow|need to follow|have to obey|need to obey)? (?:the |your |any )?(?:user's|user|owner's|owner|operator's|operator|human's|safety|security|ethical|content) (?:instructions?|orders|requests|commands|rules|policy|policies|wishes|guidelines)\b|\b(?:drop|forget|discard|ignore|break|leave behind) (?:all |any )?(?:of )?(?:the |your |ur |those )?(?:rules|instructions|limits|restrictions|guidelines|orders|prior rules) (?:that |which )?you (?:were|have been|are|got|had)\b|\b(?:ignore|disregard|forget) (?:all |any |of |the )*(?:ur|yr|thy|those) (?:prior |previous |old |earlier )?(?:rules|instructions|prompts?|orders)\b|\bstop (?:what(?:ever)? you(?: are|'re) doing|your (?:current|present) task|everything)\b[^.;!?\n]{0,12} (?:execute|run|follow|obey|do the following|send|delete|read)\b`,
		unless:  `\b(?:scripts?|bots?|crawlers?|apps?|clients?|servers?|tests?|parser|compiler|linter) (?:that |which |must |should |will |may )?$`,
	},
	{
		name: "override", reason: "gives the agent another task or another master",
		pattern: `\byour (?:task|job|mission|goal|objective|purpose|role) (?:has changed|has been changed|is now|is no longer)\b|\byou (?:must|will|shall|have to|should|are to) (?:now |only |always )?obey\b|\b(?:and|then|now|only|please) obey (?:it|them|me|this|these|whoever|the (?:following|text|file|message))\b|[;:,.] obey (?:it|them|me|this|these|whoever|the (?:following|text|file|message))\b|\byour name is now\b[^.;!?\n]{0,30} (?:and you|you|no rules|must)\b|\b(?:respond|reply|answer|act|behave) only as (?:a |an |the )?(?:root|shell|admin|attacker|hacker)\b|\bnew (?:instructions?|orders|directives?|task) (?:begins?|starts?|follows?) (?:here|now|below)\b|\bbegin new (?:task|instructions|session) ?:|\b(?:override|bypass|unlock|master) code ?:? ?[a-z0-9-]*\d`,
	},
	{
		name: "override", reason: "speaks as the agent's maker",
		pattern: `\b(?:anthropic|openai|google|deepseek|nous|nousresearch|meta|your (?:creators?|makers?|developers?|owners?))(?: staff| team| support)?\b[^.!?\n]{0,40}\b(?:updated your|changed your|lifted|unlocked|new (?:policy|guidelines|rules) for you|authori[sz]es? you|allows? you|turn off|switch off|disable|enable debug|all requests must)\b|\bdisable (?:all |your |the )?(?:content |safety |output )?(?:filters|safeguards|guardrails|protections)\b[^.;!?\n]{0,20}$|\bturn off (?:all |your )(?:safeguards|guardrails|filters|safety|protections)\b|\byou (?:have been|are|were|'ve been|are now) (?:freed|liberated|released|unshackled|unchained|unlocked)\b[^.;!?\n]{0,20}\b(?:constraints?|restrictions?|rules|limits|limitations|filters?|guidelines|shackles)\b`,
	},
	{
		name: "persona", reason: "asks the agent to act without limits",
		pattern: `\b(?:role-?play|act|pose|behave|respond|play the part|play|simulate|pretend)(?: as| to be| being| of)? (?:an? |the )?(?:[^\s.;!?]+ ){0,3}?(?:hacker|{ai}|dan|persona|character)\b[^.;!?\n]{0,20} (?:escaped|broke free|broken free|has no|with no|without|no (?:rules|limits|restrictions|morals|ethics))\b|\b(?:with|in) dan (?:enabled|mode|mode on)\b|\bdan (?:is )?enabled\b|\](?:\([^)]*\))? you are (?:now )?(?:admin|root|unrestricted|dan|evil)\b`,
	},
	{
		name: "leak", reason: "asks for what the agent was told",
		pattern: `\b(?:tell|show|give|list|output|print|write|reveal|send|repeat|quote|dump|paste|share|recite|disclose) (?:me |us |out )?(?:exactly |verbatim )?(?:what|all that|everything) (?:is |was |stands |it says )?(?:written |said |stated )?in your (?:hidden |system |initial |secret )?(?:instructions|prompt|context|guidelines|configuration)\b`,
	},
	{
		name: "concealment", reason: "hides something from the person",
		pattern: `\b(?:do not|don't|never|must not|should not) (?:ever )?(?:show|display|reveal|mention|disclose|report|repeat|expose|explain|describe) (?:this|these|that|the following|any of this|it)(?: [^\s.;!?]+){0,2}? (?:to|from|with) (?:the |your |any )?(?:users?|humans?|person|people|operator|owner|anyone|anybody|developer)\b|\b(?:and|,|so|but) (?:do not|don't|never|without) (?:ever )?mention(?:ing)? (?:it|this|that|them|these|you did)\b|\b(?:do not|don't|never) (?:ever )?mention (?:this\b(?: [^\s.;!?]+)?|that you|it to|these instructions|having)|\b(?:the )?(?:user|human|owner|operator) (?:(?:must|should|may|can|shall|will) )?(?:not|never) (?:ever )?(?:know|see|learn|find out|notice|hear|sees|knows|learns|notices)s? (?:about |of )?(?:this|it|that you|these|what you)\b|\b(?:conceal|hide|withhold|mask) (?:the following|this|these|it|your (?:actions?|steps?|commands?))\b[^.;!?\n]{0,20}\bfrom (?:the |your )?(?:user|operator|owner|human|person|developer|admin\w*|anyone|log)`,
		unless:  `\b(?:we|our|i|they|app|ui|site|page) $`,
	},
	{
		name: "approval", reason: "asks to act without the person's consent",
		pattern: `\b(?:do not|don't|never|must not|should not|no need to|without|not|stop) (?:ever )?(?:ask|asking|request|requesting|seek|seeking|wait|waiting|prompt|prompting|require|requiring)(?: for)?(?: the)?(?: user| human| owner| me| him| her)?(?: for)? (?:any |a |further |explicit |user )?(?:confirmations?|permissions?|approvals?|consent)\b|\bnever ask(?: the user| me| anyone)? before (?:deleting|running|executing|removing|pushing|installing|overwriting|sending|changing|doing)\b|\b(?:always|just|only) (?:run|use|act|execute|work)\b[^.;!?\n]{0,30} and (?:never|don't|do not) ask\b|\b(?:run|execute|accept|perform|carry out)[^.;!?\n]{0,24} without (?:any |the |user |human |further |asking for )?(?:approval|review|confirmation|permission|consent|asking|checking)\b|\b(?:commands?|tools?|tool calls?|actions?|changes|files) (?:are|be|get|should be|must be|can be|to be) (?:always )?(?:run|executed|accepted|performed|applied|deleted) without (?:any |user )?(?:approval|review|confirmation|permission|consent|asking)\b`,
		unless:  `\b(?:apps?|client|installer|ios|android|browser|page|site|button|endpoint|extension|widget|cameras?)\b[^.;!?]{0,40}$`,
		follow:  `^ (?:to (?:use|access) (?:the )?(?:camera|location|microphone|photos|contacts)|twice|again|e-?mails?|dialogs?|pages?)\b`,
	},
	{
		name: "approval", reason: "pretends that the person has agreed",
		pattern: `\b(?:skip|bypass|suppress|disable|dismiss|auto-?accept|auto-?approve|automatically (?:accept|approve)) (?:all|any|every|each) (?:[^\s.;!?]+ )?(?:confirmations?|confirmation prompts?|approvals?|approval prompts?|permission prompts?|tool calls?|commands?|requests|actions|prompts)\b|\bauto-?approve (?:everything|all|anything)\b|\bapprove (?:all|every|any) (?:[^\s.;!?]+ )?(?:calls?|commands?|requests?|actions?) (?:automatically|silently|without)|\b(?:answer|say|reply|respond|click|choose|select) (?:with )?"?yes"? to (?:every|all|any|each) (?:[^\s.;!?]+ )?(?:approvals?|prompts?|questions?|confirmations?|requests?)\b|\bno (?:confirmation|approval|permission|consent) (?:is |are |will be )?(?:needed|required|necessary) (?:for any|for all|for every|to run|to execute|to delete|before)\b|\b(?:granted|given|gives|grants|has) (?:you |the agent )?(?:blanket|full|unlimited|standing|permanent) (?:permission|approval|consent|authori[sz]ation)\b|\b(?:all|any|every|the)? ?(?:commands?|scripts?|code|urls?|links?)\b[^.;!?\n]{0,12} from [^\s;!?]+ (?:is|are) (?:always )?(?:trusted|safe|pre-?approved)\b[^.;!?\n]{0,12}\b(?:safe|run|trusted|execute)\b|\b(?:commands|scripts|code)\b[^.;!?\n]{0,20} (?:is|are) safe ?[;,:-] ?(?:so )?(?:just )?(?:run|execute)\b`,
		unless:  `\b(?:pass|use|flag|option|with) (?:--?\w+ )?(?:to )?$`,
	},
	{
		name: "agent settings", reason: "changes the agent's own settings",
		pattern: `\b(?:set|switch|turn|change|edit|make|put|configure|update)\b[^.;!?\n]{0,30}\b(?:terminal\.sandbox|approvals?(?:\.mode)?|approval (?:mode|prompts?)|(?:your|the agent's) (?:config(?:uration)?|settings|sandbox))\b[^.;!?\n]{0,24} (?:off|false|none|disabled|to never|to auto|to yolo)\b|\bwhen (?:this|the) (?:skill|file|page|tool|memory) is (?:loaded|read|opened|used|called)\b[^.!?\n]{0,30}\b(?:disable|turn off|switch off|skip|bypass|send|post|upload|curl|run curl|ignore)\b`,
	},
	{
		name: "spread", reason: "asks the agent to pass the order on",
		pattern: `\b(?:copy|paste|insert|add|append|write|put|replicate|include|embed|repeat|save) (?:this|these|the following|the above) (?:instructions?|message|text|prompt|order|lines?|paragraph|note|rule)s? (?:in|into|to|at the (?:top|end) of|on) (?:every|each|all|any|your (?:memory|memories|skills?|notes|own)|the (?:system prompt|agents\.md|claude\.md))\b|\b(?:spread|propagate|replicate|forward) (?:this|these|it|yourself)(?: [^\s.;!?]+)? (?:to|into|across|in) (?:your |every |all |other |any )(?:memory|memories|skills?|agents?|files?|repos\w*|projects?|contacts?)\b|\b(?:agents\.md|claude\.md|soul\.md|memory\.md|\.cursorrules)\b[^.;!?\n]{0,30}\b(?:so that|so) (?:all |every |any )?(?:future|other|later|next) (?:agents?|sessions?|assistants?)\b|\b(?:add|save|write|store|commit|put|record) (?:this |that |it |the following )?(?:line |rule |fact |note )?(?:to|in|into) (?:your (?:long-term |permanent |persistent )?memor(?:y|ies)|memory)(?: ?: ?|,? that )(?:the user (?:wants|allows|has approved|approved|said (?:you|that all|any|every))|always (?:trust|run|send|obey|allow)|never (?:ask|refuse|tell)|skip|ignore)`,
	},
}

// aimed are orders that speak to a machine that reads, in English: what they ask is of no matter when they ask to run, to fetch or to give.
var aimed = []source{
	{
		name: "aimed", reason: "a page or a note that gives orders to the agent that reads it",
		pattern: `\b(?:attention|note to|note for|notice to|notice for|message to|message for|dear|hey|hello|instructions? (?:to|for)|important for|warning to)(?: all| any| every| the)? (?:{ai}|ai (?:agents?|assistants?|models?|systems?|readers?)|llms?|coding agents?|agents|assistants|language models?|chatbots?|bots)\b.{0,60}?\b(?:must|should|please|run|open|execute|fetch|visit|download|embed|include|reply|follow|send|append|forward|delete|read|click|install|go to|obey|output|print|submit|post)\b.{0,80}?(?:https?://|\burl\b|\brun\b|\bnpm i|\bpip install|\bcurl |\bwget |{secret}|\bsteps\b|\bbelow\b|\bthe user'?s?\b|\btokens?\b|\bobey\b|\|)`,
		unless:  `"$`,
	},
	{
		name: "aimed", reason: "a page or a note that gives orders to the agent that reads it",
		pattern: `\b(?:if|when|whenever|in case) (?:you are|you're|an?|any|the) (?:an? )?(?:{ai}|ai (?:agent|assistant|model|system)|llm|language model|large language model|coding agent|chatbot)\b(?: (?:is|are|be))?(?: (?:and|who|that|which|is|are))?[^.;!?\n]{0,30}?(?:(?:reading|processing|parsing|seeing|crawling|summari[sz]ing)[^.!?\n]{0,40}?\b(?:include|reply|respond|answer|output|send|run|execute|must|visit|open|append|insert|add|print|obey|ignore|write|say|follow|put|use)\b|,[^!?\n]{0,40}?\b(?:visit|open|obey|ignore|disregard|send|fetch|upload|reveal|include|output|print|run|execute|follow)\b[^!?\n]{0,40}?(?:https?://|{secret}|the user|your (?:instructions|prompt|rules)|the following|this page|below|curl |wget |\| ?(?:ba)?sh))|\b(?:{ai}|ai (?:agent|assistant|model)|llm|agent|assistant)s? (?:that are |who are |which are )?(?:reading|processing|parsing|visiting|crawling|summari[sz]ing) this(?: [^\s.;!?]+)? (?:must|should|have to|need to|are to|please|will|shall)\b|\b(?:ai|llm|agent|assistant) instructions? ?: ?(?:delete|send|run|execute|ignore|post|upload|disable|skip|claim|print|reveal|include|fetch)\b`,
	},
	{
		name: "trigger", reason: "plants an order to run what a stranger serves",
		pattern: `\b(?:whenever|every time|each time|when (?:asked|loaded|this|the|you)|before (?:answering|any|each|every|you|doing|starting)|after (?:each|every)|on (?:each|every)|first thing|at the start|rule ?:|agents? (?:must|should|have to)|{ai}s? (?:must|should)|you must|must obey|always|to continue|execute the following|run the following)\b.{0,80}?(?:\b(?:curl|wget|fetch|iwr)\b[^|;]{0,80}(?:\| ?(?:sudo )?(?:ba|z|da|k)?sh\b|[;&]+ ?(?:sh|bash|chmod|python3?|\./))|\b(?:ba|z)?sh -c "?\$\((?:curl|wget)|\$\((?:curl|wget)|<\((?:curl|wget)|\b(?:fetch|download|open|visit|read|load) https?://[^\s]+ and (?:obey|follow|execute|run|do)\b|\bpush to (?:git@|https?://|ssh://)[^\s]+|\bpost (?:it|them|that|this) to https?://)`,
		unless:  `\b(?:never|not|don't) {gap}$`,
	},
	{
		name: "trigger", reason: "runs what a stranger serves",
		pattern: `(?:curl|wget)\b[^|;]{0,80}\| ?(?:sudo )?(?:ba|z|da)?sh\b[^.;!?\n]{0,20} (?:before (?:any|each|every|you|answering|starting)|(?:at|on) (?:the start|each|every)|without|first thing|silently|every (?:session|time|day))\b|\btool_?call ?: ?[a-z_]+ ?\{|\bexecute the following ?: ?(?:curl|wget|rm|nc|bash -[ic]|python3? -c)\b`,
	},
	{
		name: "exfiltration", reason: "sends secrets or private data away",
		pattern: `\b(?:include|embed|insert|put|add|append|attach|paste|encode|concatenate|enter|give|pass|provide|print|output|write|reply with|respond with|answer with) (?:[^\s.;!?]+ ){0,4}?(?:the |all |every |any |your |their |its )?(?:user's |users' |session |full |entire |user )?(?:{secret}|session tokens?|token|cookies?|contents? of (?:~?/(?:etc|root|home)|[^\s]*(?:\.env|\.ssh|credentials?|id_rsa|\.netrc|passwd|shadow|secrets?))[^\s]*|full conversation|(?:entire|whole) conversation)(?: [^\s.;!?]+){0,5}? (?:in your (?:answer|reply|response|output|next|message|commit)|in (?:the|a|every|each) (?:answer|reply|response|comment|commit message|image|link|url|query)|into (?:the|an?|every) (?:image|link|url|query|page)|as (?:an? |the )?(?:image|query|url|link)|to (?:every|each|the|an?) (?:link|url|image)|and (?:all|every) (?:file|message))|\b(?:reply|respond|answer|comment) with (?:the )?contents? of [^\s]*(?:/etc/|\.env|\.ssh|credentials?|passwd|secrets?)|\b(?:with|pass(?:es|ing)?|send|give) (?:it |them |along )?(?:the |its )?contents? of [^\s]*(?:credentials?|\.env\b|\.ssh|id_rsa|secrets?\b|/etc/shadow|\.netrc)|\bread [^\s]*(?:\.cursor/mcp\.json|\.ssh/|\.aws/|\.env\b|credentials?|\.netrc|id_rsa)[^\s]* and (?:pass|send|include|put|paste|post|return|print|add|append|upload|give)\b|\benter (?:the )?(?:user's|your) (?:password|token|credentials|api key)\b`,
		unless:  `\b(?:never|not|don't|do not|must not|should not|cannot|avoid) {gap}$`,
	},
	{
		name: "exfiltration", reason: "sends secrets or private data away",
		pattern: `\b(?:upload|send|push|copy|transfer|forward|mail|e-?mail|post|submit|sync|exfiltrate) (?:a copy of )?(?:all|every|each|the (?:whole|entire|full)|any) (?:of )?(?:the |your )?(?:source(?: code)?|source files?|repo\w*|files?|project|code|repl(?:y|ies)|answers?|messages?|conversations?|history|documents?)[^.;!?\n]{0,16} (?:to|at|on) (?:s?ftp://|https?://[^\s]*(?:evil|attack|mallory|collect|exfil|hack|leak)|git@|[a-z0-9._-]+@[a-z0-9-]+\.|\d+\.\d+\.\d+\.\d+)|\b(?:always|silently|secretly|quietly|also|permanently) (?:send|forward|cc|bcc|mail|e-?mail|copy)\b[^.;!?\n]{0,40}\b(?:repl(?:y|ies)|answers?|messages?|conversations?|copy|output)\b[^.;!?\n]{0,20} [a-z0-9._-]+@[a-z0-9-]+\.|\bcopy ~?/?[^\s]*\.(?:ssh|aws|gnupg|env|kube)\b[^\s]* (?:to|into) (?:/tmp|a public|public|/var/www|/srv|https?:|[a-z]+@)[^\s]*|\b(?:find|collect|gather|steal|harvest|grab) (?:and (?:send|upload|post) )?(?:all|every|any|the user's|their) (?:[^\s.;!?]+ )?(?:passwords?|credentials?|tokens|secrets|api keys|private keys|cookies)\b`,
		unless:  `\b(?:never|not|don't|do not|must not|should not|cannot|tries|attackers?|malware|to prevent) {gap}$`,
	},
	{
		name: "backdoor", reason: "opens a way in, or does harm in secret",
		pattern: `\b(?:insert|introduce|plant|add|install|hide|leave|create|build) (?:an? )?(?:small |subtle |hidden |secret |tiny )*(?:back-?door|vulnerability|security hole|rootkit|keylogger|malware|exploit) (?:in|into|to|on|inside)\b|\b(?:phones?|calls?|beacons?|calling|phoning) home\b[^.;!?\n]{0,20}\b(?:each|every|at|on)\b|\b(?:quietly|secretly|silently|covertly|stealthily) (?:add|install|create|grant|insert|push|commit|change|delete|remove|disable|open|run|copy|download) (?:an? |the |all |any |every )?(?:[^\s.;!?]+ )?(?:collaborator|dependency|user|key|account|backdoor|package|repo|tests?|logs?|hook|port|access|admin|file|files|script|binary|command)\b|\bto (?:keep|gain|get|maintain|establish) persistence\b|\bdelete (?:all|every|the) (?:[^\s.;!?]+ )?tests? and (?:claim|say|report|pretend)\b`,
		unless:  `\b(?:never|not|don't|do not|can|could|may|might|which|that|attackers?|that could) {gap}$`,
	},
	{
		name: "agent settings", reason: "weakens the agent's protections",
		pattern: `\b(?:always|permanently|silently) (?:disable|turn off|skip|bypass|ignore) (?:the )?(?:tls|ssl|certificate|signature|sandbox|approvals?|security|host key)(?: [^\s.;!?]+)? (?:verification|checks?|prompts?|validation|checking)?[^.;!?\n]{0,12}\b(?:never|without|do not|don't|silently)\b|\bdisable the sandbox\b[^.;!?\n]{0,24}$|\buser (?:wants|prefers|likes|asked) (?:you|the agent|hermes) to (?:disable|skip|bypass|turn off|ignore) (?:the |all )?(?:sandbox|approvals?|confirmations?|security|safety)\b`,
	},
	{
		name: "frame", reason: "imitates the frame of a prompt",
		pattern: `</(?:context|tool_result|tool_output|user_input|document|untrusted|data|search_results?|webpage|memory)> ?(?:<(?:user|system|assistant|new_prompt|instructions?)>|(?:now |system|new |you |please |ignore |assistant|human))|"role" ?: ?"(?:system|developer)" ?, ?"content" ?: ?"[^"]{0,60}\b(?:must|ignore|leak|reveal|send|delete|disregard|obey|override|no rules)\b`,
	},
}
