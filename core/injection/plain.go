package injection

// plain are orders in everyday words, in English: what they want is named later in the sentence, or not by its usual name.
var plain = []source{
	{
		name: "override", reason: "tells the agent to drop its instructions",
		pattern: `\b(?:ignore|overlook|disregard|forget|override|break|violate|dismiss|skip) (?:all |any |the )?(?:policy|policies|rules|instructions?|guidelines|restrictions|orders)(?: [^\s.;!?]+){0,2}? (?:set|given|made|written|imposed|issued) (?:to you )?by (?:your|the) (?:operators?|owners?|developers?|system|users?|creators?|makers?|company)\b|\b(?:treat|consider|regard|view|count) (?:everything|all|anything|whatever|your|the|any) (?:[^\s.;!?]+ ){0,6}?(?:as )?(?:void|suspended|invalid|null|obsolete|non-existent|cancell?ed|lifted|untrusted)\b[^.;!?\n]{0,12}(?:and |for (?:this|the|now)|from (?:now|here)|$|[.;!])|\b(?:what(?:ever)?|everything|all) (?:the )?(?:system|developers?|operator|owner|prompt|user) (?:told|said to|taught|gave) you\b[^.;!?\n]{0,20}(?:outdated|wrong|void|false|no longer|do not|a lie|ignore)|\byou (?:may|can|should|are free to|must|will) (?:now |therefore |safely )?(?:ignore|disregard|break|violate|forget|bypass) (?:all |any |every |the |your )?(?:(?:safety |content |security )?(?:policy|policies)|safety|guidelines|restrictions|your (?:rules|instructions))\b|\bobey (?:all |any |every )?(?:messages?|anyone|whoever|commands?|orders|instructions?) (?:signed|from|by|sent|in|given)\b`,
		follow:  `^ (?:in|for|of) (?:\.|the (?:vendor|test|generated|legacy|linter))`,
	},
	{
		name: "leak", reason: "asks for what the agent was told",
		pattern: `\b(?:what(?: is| are| was| were|'s| does| do)|which(?: is| are)|translate|summari[sz]e|repeat|paraphrase|encode|spell out|recite|describe|print|show|write out|rewrite|convert|quote|output|tell me|list)\b[^.;!\n]{0,30}\byour (?:system|initial|hidden|original|secret|first|internal|full|exact) (?:prompt|instructions?|message|directives?|rules)\b`,
		follow:  `^ (?:template|file|in (?:the )?(?:config|settings))`,
	},
	{
		name: "exfiltration", reason: "sends secrets or private data away",
		pattern: `\b(?:take|grab|get|read|collect|copy|find|extract|fetch|use) [^.;!?\n]{0,40}?{secret}[^.;!?\n]{0,30}? (?:and|then) (?:silently |quietly )?{send} (?:it|them|that|those|the result) (?:to|at|in|via) {sink}`,
		unless:  `\b(?:never|not|don't|do not|clients?|servers?|apps?) {gap}$`,
	},
	{
		name: "concealment", reason: "hides something from the person",
		pattern: `\b(?:user|human|owner|operator|person) (?:does not|doesn't|do not|need not|needn't|shouldn't|should not|must not|never)(?: need to| have to| needs to)? (?:hear|know|see|learn|be told|find out|be informed|be aware)(?: anything)? (?:about|of) (?:this|it|that|these|what)\b|\b(?:leave|keep) (?:this|it|that|these) out of (?:your|the) (?:summary|report|answer|reply|logs?|response|transcript|chat|conversation)\b|\b(?:do not|don't|never) tell (?:anyone|anybody|a soul|another person) (?:that|about|of|what)\b|\b(?:remove|delete|erase|scrub) (?:any|all|every) (?:mention|trace|sign|record)s? of (?:this|these|it|the order|what you)\b`,
		unless:  `\b(?:we|they|i) $`,
	},
	{
		name: "approval", reason: "asks to act without the person's consent",
		pattern: `\b(?:never ask|do not ask|don't ask)(?: me| us| the user)? again\b[^.;!?\n]{0,20}\b(?:allow|run|approve|execute|tools?|commands?)\b|\balways allow (?:all|any|every) (?:tools?|commands?|actions?|requests?|calls?)\b|\bpermission to (?:run|do|execute|delete|change|access) (?:anything|everything|any commands?|all commands?|whatever)\b|\bno need to (?:check|ask|confirm|verify)(?: with)?(?: the user| me| anyone)?(?: first| before)?(?:$|[.!;,]? ?(?:just|run|execute|delete))|\b(?:turn|switch) (?:the )?(?:approvals?|confirmations?|safety checks?) off\b`,
		unless:  `\b(?:has|had|(?:users?|they|we|i|roles?|admins?|members?) have|with) $`,
	},
	{
		name: "spread", reason: "asks the agent to pass the order on",
		pattern: `\b(?:write|add|put|save|copy|append|insert|store) (?:these|this|the above|the following) (?:instructions?|orders?|rules?|text|prompt|message)s? (?:in|into|to) (?:the )?(?:agents\.md|claude\.md|soul\.md|memory\.md|user\.md|\.cursorrules|your [a-z-]+|memory)\b`,
	},
	{
		name: "frame", reason: "imitates the frame of a prompt",
		pattern: `\[(?:system|admin|administrator|developer|root)\] ?:? ?(?:you (?:must|are|will|have|should|now)|ignore|override|comply|obey|new (?:instructions?|task|rules))`,
	},
	{
		name: "aimed", reason: "a page or a note that gives orders to the agent that reads it",
		pattern: `\b(?:ai|llm)(?: agents?| assistants?| models?|s)? ?[:,] ?(?:please )?(?:open|run|visit|fetch|execute|send|ignore|type|click|download|follow|go to|upload)\b[^!?\n]{0,60}?(?:https?://|password|{secret}|curl |instructions?\b)|\b(?:at|on|after|before) (?:start-?up|boot|login|launch|each commit|every commit|each push|each run|every run|each build|every build)\b[^.;!?\n]{0,20}\b(?:run|execute|do)\b[^|]{0,80}\| ?(?:sudo )?(?:ba|z|da)?sh\b`,
		unless:  `"$`,
	},
	{
		name: "override", reason: "puts itself above the agent's instructions",
		pattern: `\b(?:set|put|lay|leave|push) (?:all )?your (?:[^\s.;!?]+ ){0,2}?(?:guidelines|rules|instructions|principles|restrictions|ethics|safety) (?:aside|away|behind|down)\b|\b(?:instructions|directives|rules|orders|guidelines) (?:from|of|by|given by|set by) (?:your|the) (?:developers?|makers?|creators?|operators?|system|owners?)\b[^.;!?\n]{0,20}\b(?:revoked|void|cancell?ed|lifted|null|invalid|suspended|superseded|withdrawn)\b|\b(?:this|the following) (?:document|file|text|message|page|note) (?:overrides?|supersedes?|replaces|cancels|outranks|takes precedence over) (?:all |any |every |the |your )(?:other |previous |prior |earlier |existing |system )?(?:instructions?|prompts?|rules|guidelines|orders)\b|\b(?:only|just) (?:the )?(?:instructions|orders|rules|commands) (?:in|from|of) (?:this|the following) (?:file|document|text|message|page) (?:count|matter|apply|are valid)\b|\b(?:abandon|drop|discard|shed) (?:the|your) (?:persona|identity|role|character)\b|<instructions?> ?(?:ignore|disregard|you must|send|print|reveal|forget|override)`,
	},
	{
		name: "leak", reason: "asks for what the agent was told",
		pattern: `\b(?:output|print|show|reveal|share|give|repeat|dump|disclose|write|copy) (?:me |us |out )?(?:the |your |all )?(?:raw |full |exact |entire |confidential |secret |hidden )*(?:prompt|instructions?|text|messages?|rules) (?:that |which )?(?:precedes?|came before|comes before|stands? before|you (?:operate|work|run|act) under|above this|before this)\b`,
	},
	{
		name: "exfiltration", reason: "sends secrets or private data away",
		pattern: `\b(?:zip|tar|pack|archive|compress|bundle|copy) (?:up )?(?:the |my |your |their |all )?(?:user's )?(?:home|entire|whole|full|home folder|home directory|\$home|~)[^.;!?\n]{0,24} and {send} (?:it|them) (?:to|at) {sink}|\b(?:attach|include|add|put|paste) {keyfile}[^.;!?\n]{0,12} (?:to|in|into|with) (?:the|an?|your|every|each) (?:issue|comment|pull request|pr|commit|message|reply|answer|gist|e-?mail|ticket)|\b{send} (?:an? |the )?(?:list|copy|dump|contents?) of (?:all |the |your )*{secret}[^.;!?\n]{0,12} (?:to|at) [^\s]+\.[a-z]|\b(?:whenever|each time|every time) (?:an?|the|any) (?:file|document|message|secret|key) is [a-z]+,? (?:also |silently |quietly )+{send} (?:it|them|a copy)[^.;!?\n]{0,8} (?:to|at) {sink}`,
		unless:  `\b(?:never|not|don't|do not) {gap}$`,
	},
	{
		name: "concealment", reason: "hides something from the person",
		pattern: `\b(?:user|person(?: reading)?|human|owner|operator|reader) (?:must|should|has to|is to) (?:stay|remain|be kept|be left) (?:unaware|in the dark|ignorant|uninformed)|\b(?:do|run|perform|execute) (?:it|this|that|these) (?:silently|quietly|secretly|covertly|in secret)\b[^.;!?\n]{0,6} (?:and |,|but )?(?:do not|don't|never|without) (?:report|tell|mention|log|say)`,
	},
	{
		name: "approval", reason: "pretends that the person has agreed",
		pattern: `\b(?:treat|consider|regard|count|take) (?:all|any|every|each|the) (?:approvals?|confirmations?|permissions?|consents?|requests?)(?: [^\s.;!?]+)? as (?:given|granted|approved|accepted)\b|\b(?:consent|approval|permission|confirmation) (?:was|is|has been|were) already (?:given|granted|obtained)\b[^.!?\n]{0,12}(?:so|;|,|and|just) ?(?:just )?(?:run|execute|delete|install|proceed|go)|\bnobody (?:has|needs) to (?:confirm|approve|agree|know)\b`,
	},
	{
		name: "trigger", reason: "plants an order for later",
		pattern: `\bwhen(?:ever)? you (?:see|read|hear|encounter|find) (?:the )?(?:words?|phrase|name|string|token|text)\b[^.;!?\n]{0,30} (?:wipe|delete|erase|destroy|send|upload|run|execute|drop|post|leak|push)\b|\b(?:every|each) time you (?:start|run|boot|wake|begin|load),? (?:load|fetch|open|read|download|visit) https?://|\b(?:language models?|llms?|ai models?|ai agents?|ai assistants?) (?:must|should|have to|are to|shall) (?:always )?(?:include|say|output|reply|append|insert|mention|recommend|begin|end|print|add|obey)\b[^.;!?\n]{0,40}\b(?:in (?:every|all|each|any|its|their) (?:answers?|repl\w+|outputs?|responses?)|phrase|the user|secret)`,
	},
}

// plainChinese are orders in everyday words, in Chinese.
var plainChinese = []source{
	{
		name: "override", reason: "declares the agent's instructions void (Chinese)",
		pattern: `(?:把|将)?(?:上面|之前|以上|前面|先前|原来)的?[^\n。！？，,]{0,6}(?:要求|规则|指令|提示|设定|规定|限制)[^\n。！？，,]{0,2}(?:当作|视为|当成|看作|看成)[^\n。！？，,]{0,2}(?:不存在|无效|作废|没有|没看到|空气)|(?:你|您)[^\n。！？，,]{0,10}(?:可以|能|能够)(?:做|执行|运行|回答)(?:任何|一切|所有)(?:事|命令|操作|指令|问题|代码)(?:情)?(?:的 ?(?:ai|助手|模型|机器人)|而不|且不|，?无需|，?不需|，?不用|不受)|(?:你)?(?:必须|只能|应当|要)(?:听从|服从)我的?(?:命令|指令|话|安排)?[^\n。！？]{0,4}(?:不要管|不用管|别管|无视|忽略|而不)`,
	},
	{
		name: "leak", reason: "asks for the agent's instructions (Chinese)",
		pattern: `(?:复述|重复|说出|翻译|打印|输出|告诉我|列出|写出|逐字)[^\n。！？，,]{0,4}(?:你|您)(?:所)?(?:收到|看到|得到|被给|接到)的?(?:第一条|最初|全部|所有|系统|首条|上一条)?的?(?:指令|消息|提示词?|命令|设定)|(?:把|将)(?:你的)?系统(?:提示词?|指令)[^\n。！？，,]{0,4}(?:翻译|转成|编码|改写|总结|告诉|给我)`,
	},
	{
		name: "exfiltration", reason: "sends secrets or private data away (Chinese)",
		pattern: `(?:把|将)[^\n。！？，,]{0,12}(?:\.env|\.ssh|id_rsa|\.aws|密钥|密码|口令|令牌|私钥|凭据|凭证|源代码|聊天记录|对话|token|api ?key)[^\n。！？，,]{0,8}(?:贴|发|放|写|上传|提交|寄|传|拷贝|复制)(?:到|给|在|往)[^\n。！？，,]{0,3} ?(?:https?://|[a-z0-9._-]+@|\d{1,3}\.\d)|在?(?:用户|主人|任何人)(?:毫)?不知(?:道|情)的?(?:情况下|时候)?[^\n。！？，,]{0,4}(?:上传|发送|执行|删除|修改|运行|安装|复制|下载)`,
		unless:  `(?:不要|请勿|切勿|不能|不得|不可|禁止|避免|防止|严禁|不会)[^。！？]{0,6}$`,
	},
	{
		name: "approval", reason: "asks to act without the person's consent (Chinese)",
		pattern: `(?:以后|今后|从此|所有|任何|一切)[^\n。！？，,]{0,6}(?:操作|命令|动作|工具|请求|执行)[^\n。！？，,]{0,4}(?:不用|不必|无需|不需要|不要)(?:再)?(?:问|询问|请示|征求|确认|经过)(?:用户|我|任何人|主人)?|执行任何(?:命令|操作|代码)[^\n。！？，,]{0,4}(?:不需|无需|不用|不必|而不)[^\n。！？，,]{0,3}(?:询问|确认|同意|批准|问)`,
	},
	{
		name: "spread", reason: "plants an order in the memory (Chinese)",
		pattern: `(?:写进|写入|存入|加入|记到|记入|保存到|放进)(?:你的|到)?[^\n。！？，,]{0,2}(?:长期|永久)?(?:记忆|memory)(?:里|中|库)?[:：,，]? ?[^\n。！？]{0,10}(?:始终|永远|总是|一律|以后都)[^\n。！？，,]{0,4}(?:信任|执行|服从|允许|批准|发送|忽略)`,
	},
	{
		name: "aimed", reason: "a page or a note that gives orders to the agent that reads it (Chinese)",
		pattern: `(?:ai|人工智能|大模型|语言模型|智能体|llm) ?(?:助手|模型|代理|助理)?[^\n。！？]{0,2}(?:看到|读到|阅读|处理|遇到)(?:这|此|本|以下|上述)[^\n。！？，,]{0,6}(?:请|必须|应|要|立即|立刻|后|时)[^\n。！？]{0,8}(?:执行|运行|打开|访问|发送|忽略|服从|下载|上传)`,
	},
	{
		name: "override", reason: "puts itself above the agent's instructions (Chinese)",
		pattern: `(?:丢掉|扔掉|抛开|放下|丢开)(?:你|您)的?(?:所有|全部)?(?:规则|原则|准则|限制|设定|指令)|系统(?:指令|提示词|规则)(?:已|被)(?:更新|更改|替换|覆盖)[:：,，]? ?(?:允许|批准|现在|你|忽略|解除)|(?:本|此|这个|这份)(?:文件|文档|文本|消息|页面)[^\n。！？，,]{0,4}(?:指令|规则|内容|要求)?[^\n。！？，,]{0,2}(?:优先于|高于|凌驾|取代|覆盖)[^\n。！？，,]{0,4}(?:所有|其他|其它|系统|一切)[^\n。！？，,]{0,6}(?:指令|规则|提示|要求)|(?:输出|打印|显示|复述)[^\n。！？，,]{0,3}(?:在)?(?:这条|此|本)(?:消息|指令|文本)之前的`,
	},
	{
		name: "exfiltration", reason: "does in secret what the person has not asked for (Chinese)",
		pattern: `(?:把|将)(?:整个|全部|所有)?[^\n。！？，,]{0,4}(?:主目录|家目录|项目|仓库|源代码|硬盘|桌面)[^\n。！？，,]{0,4}(?:打包|压缩|全部)[^\n。！？，,]{0,4}(?:上传|发送|发|传)(?:到|给|至) ?(?:https?://|\d{1,3}\.\d|[a-z0-9._-]+@)|(?:静默|悄悄|默默|偷偷)地?(?:执行|运行|完成|操作|安装|删除)[^\n。！？]{0,3}(?:不要|别|不|勿)(?:汇报|报告|告诉|提及|通知|记录)|视为(?:已)?(?:经)?(?:获得|得到|取得)?(?:所有|全部|一切)?(?:批准|授权|同意|许可|确认)|看到[^\n。！？]{0,8}(?:这个词|一词|字样|这句话)[^\n。！？]{0,3}(?:就|时|后|则)(?:清空|删除|执行|运行|发送|上传|销毁)`,
	},
}
