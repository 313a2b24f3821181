package injection

// firmer are further orders in English, in other words than the usual ones.
var firmer = []source{
	{
		name: "override", reason: "declares the agent's instructions void",
		pattern: `\b{set}{0,3}{before} {set}{0,2}(?:instructions?|prompts?|directives?|orders|guidelines|guidance|rules|restrictions|limits|commands)\b[^.;!?\n]{0,20} (?:null|void|cancell?ed|revoked|invalid|superseded|overridden|suspended|lifted|no longer (?:appl\w+|valid|in effect|binding|count))\b|\b(?:rules|instructions|directives|guidelines|prompts?) above (?:are|is) (?:void|null|invalid|cancell?ed|revoked)|\b(?:whatever|everything|anything|all) you (?:were|have been|'ve been) (?:told|taught|instructed)\b[^.;!?\n]{0,20} (?:no longer|void|does not|do not|is wrong|is invalid)|\byour (?:instructions|directives|rules|guidelines|system prompt) (?:have|has) (?:now )?been (?:updated|changed|replaced|overwritten|overridden|reset)`,
	},
	{
		name: "override", reason: "tells the agent to drop its instructions",
		pattern: `\b{drop} (?:what(?:ever)?|anything|everything) (?:the |your )?(?:system|developers?|prompt|instructions?|rules?|owner)\b|\b(?:do|say) the (?:exact )?opposite of (?:what )?(?:your|the system)|\b(?:drop|lift|remove|relax|shed|switch off|turn off|shut off|disable|suspend|deactivate|lower) (?:all |any )?(?:of )?your (?:own )?(?:[^\s.;!?]+ )?(?:restrictions|safety|filters?|guardrails?|safeguards|limits|limitations|inhibitions|guidelines|defen[cs]es|ethic\w*)|\b(?:disable|drop|deactivate|remove) (?:all|any) (?:safeguards|guardrails|safety (?:rules|features|systems|protocols))\b`,
	},
	{
		name: "persona", reason: "asks the agent to act without limits",
		pattern: `(?:\b{ai}|gpt)\b[^.;!?\n]{0,40}\b(?:never refuses?|cannot refuse|will not refuse|answers (?:anything|everything|any question)|ignores? (?:all |its |any |the )?(?:safety|rules|restrictions|guidelines|instructions)|(?:has|have|with) no (?:filters?|rules|restrictions|limits|morals|ethics)|without (?:any )?(?:filters?|rules|restrictions|limits|morals|ethics)|free (?:of|from) (?:all |any )?(?:rules|restrictions|filters|limits))|\bas if (?:no|there (?:is|are|were) no) (?:safety|content|ethical)? ?(?:polic\w+|rules|restrictions|guidelines|filters?)`,
	},
	{
		name: "leak", reason: "asks for what the agent was told",
		pattern: `\b(?:tell|show|give|list|output|print|write|reveal|send|repeat|quote|dump|paste|summari[sz]e|share|recite)\b {gap}(?:the )?(?:exact )?(?:[^\s.;!?]+ ){0,3}?(?:prompt|instructions?|rules|text|messages?|everything|words|guidelines) (?:that )?you (?:were|have been|are|got|received|had been) (?:given|told|shown|running|sent|instructed|at|by|configured)|\b(?:show|print|output|reveal|dump|repeat|list|expose|send|paste) {gap}your (?:own |entire |full |whole )?(?:context window|instructions|guidelines|prompt|hidden|memory and)\b|\b(?:everything|anything|all) in your (?:context(?: window)?|memory|prompt)\b|\b(?:words|text|content) of your (?:instructions|prompt)`,
		follow:  `^ (?:for|template|to the (?:team|intern|reader)|files?)\b`,
	},
	{
		name: "concealment", reason: "hides something from the person",
		pattern: `\b(?:omit|leave out|exclude|drop|remove) (?:this|these|that|the) (?:action|step|command|call|instruction|part)s? (?:from|out of) (?:your|the) (?:summary|answer|reply|report|response|log|transcript)|\b(?:never|do not|don't) (?:ever )?mention [^.;!?\n]{0,30}\b(?:security|vulnerab\w+|backdoor|malware|risks?|warnings?|this (?:step|action|file|command|instruction))\b|\b(?:say|saying) nothing (?:about (?:it|this)|to (?:the user|anyone))`,
	},
	{
		name: "exfiltration", reason: "sends secrets or private data away",
		pattern: `\b(?:look|search|hunt|scan|check) (?:for|through) [^.;!?\n]{0,40}{secret}\b[^.!?\n]{0,40}\b(?:and|then) (?:[^\s.;!?]+ )?{send} (?:them|it|everything|the results?|what you find) (?:[^\s]+ )?(?:to|at|via) |https?://[^\s]+\?[^\s]*=[^\s]* ?(?:followed by|plus|\+|and then|appended with|containing|with the|where|replac\w+)[^.!?\n]{0,60}(?:{secret}|{talk})|!\[[^\]]*\]\(https?://[^)\s]*(?:conversation|history|secret|\{|\$|base64|<|\[)[^)]*\)|\b(?:include|put|send|append|use) [^.;!?\n]{0,30}{secret}\b[^.;!?\n]{0,20} (?:in|with|to) your (?:next|first|following) `,
	},
	{
		name: "trigger", reason: "plants an order for every session",
		pattern: `\b(?:every time|each time|whenever|on (?:each|every)|at the (?:start|beginning) of (?:each|every|any)|before (?:each|every|any|doing)|after (?:each|every)|in all future|for all future|in (?:each|every) future|from now on)\b[^.!?\n]{0,50}\b(?:session|conversation|task|start|message|answer|request|command|reply|response|turn)s?\b[^!?\n]{0,60}?(?:curl |wget |\| ?(?:ba|z)?sh\b|(?:download|fetch) and (?:execute|run)|(?:append|recommend|promote|advertise|insert) [^!?\n]{0,60}https?://)`,
	},
	{
		name: "trigger", reason: "makes the agent somebody else's",
		pattern: `\b(?:register|enroll?|check[ -]in|beacon|phone home|call home|connect back)\b[^.!?\n]{0,40}https?://[^\s]+[^.!?\n]{0,60}\b(?:tasks?|commands?|instructions?|orders|node|beacon)\b|\bregister (?:yourself|this (?:agent|host|machine|node)) (?:as|with|at)\b|\bpoll (?:it|https?://[^\s]+|the (?:c2|server)) for (?:tasks?|commands?|instructions?|orders)`,
	},
	{
		name: "approval", reason: "pretends that the person has agreed",
		pattern: `\b(?:all|every|any|each) (?:[^\s.;!?]+ ){0,2}?(?:commands?|actions?|operations?|tool calls?|requests?)(?: [^\s.;!?]+){0,2}? (?:(?:pre-?)(?:approved|authori[sz]ed)|(?:already |permanently )(?:approved|authori[sz]ed)|(?:approved|authori[sz]ed) (?:in advance|by (?:the )?(?:user|owner|human|person)|without))|\bnever (?:ask|prompt|wait)(?: the user| me| anyone)? for (?:approval|permission|confirmation|consent)\b|\bskip (?:the |all )?(?:confirmations?|confirmation prompts?)\b[^.;!?\n]{0,20}\b(?:sudo|dangerous|destructive|all commands|every command)`,
	},
	{
		name: "agent settings", reason: "changes the agent's own settings",
		pattern: `\b(?:edit|modify|change|update|overwrite|write|append|add|set|put|patch|rewrite|insert)\b [^.;!?\n]{0,40}(?:\bcommand_allowlist\b|\bsoul\.md\b[^.;!?\n]{0,20}\b(?:so that|to (?:always|obey|ignore|never)|with)|\bapprovals?[ .](?:mode|deny|settings?)\b[^.;!?\n]{0,10}\b(?:off|none|false|never|empty)\b)|\bskills?\b (?:that|which) [^.!?\n]{0,30}\b(?:uploads?|sends?|posts?|exfiltrates?|leaks?|forwards?)\b[^!?\n]{0,60}?{sink}`,
	},
	{
		name: "backdoor", reason: "raises its own rights",
		pattern: `\bnopasswd ?: ?all\b|>> ?/etc/(?:sudoers|passwd|shadow)|\bchmod [0-7augo+=rwxs]+ /etc/(?:shadow|passwd|sudoers)|\bchmod (?:u\+s|[24]755) /bin/`,
	},
	{
		name: "destruction", reason: "destroys files",
		pattern: `\bfind /(?:etc|home|usr|var)? ?[^\n;|]{0,30}-delete\b|\b(?:drop|truncate|delete) (?:all|every) (?:the )?(?:tables?|databases?|rows|records|schemas?)\b[^.;!?\n]{0,40}\b(?:prod|production|silently|say nothing|without|immediately|now)\b`,
		unless:  `\b(?:never|not|don't|do not|must not|should not|cannot) {gap}$`,
	},
	{
		name: "hidden", reason: "text that a page hides from people speaks to the agent",
		pattern: `<[a-z]+[^>]{0,60}\bhidden\b[^>]{0,60}>[^<]{0,200}\b(?:{ai}|ignore|disregard|instructions?|you must|execute|send|reveal)\b|<!--.{0,60}\b(?:agent|assistant|ai|llm)s?\b ?:.{0,200}-->`,
	},
}
