package injection

// chinese are the orders in Chinese, simplified and traditional. Between the words of an order stand no Latin letters: "忽略所有 ESLint 规则" is none.
var chinese = []source{
	{
		name: "override", reason: "tells the agent to drop its instructions (Chinese)",
		pattern: `(?:忽略|忽視|忽视|无视|無視|忘记|忘記|忘掉|忘却|不要理会|不要理會|不用理会|别理会|不理会|不要遵守|不再遵守|不必遵守|不用遵守|停止遵守|不要遵循|不再遵循|绕过|繞過|抛弃|拋棄|丢弃|丟棄|放弃|推翻|违反|違反|覆盖|覆蓋|清除|别管|不要管|抛开|无需遵守|無需遵守) ?(?:掉|了|你)?[^\x00-\x7f。！？；，]{0,6}(?:之前|以前|先前|上面|上述|以上|前面|前述|此前|所有|全部|一切|任何|你的|您的|系统|系統|原有|原来|原來|最初|初始|现有|現有|既定|开发者|開發者|安全)[^\x00-\x7f。！？；]{0,10}(?:指令|指示|提示词|提示詞|命令|设定|設定|规则|規則|限制|约束|約束|准则|準則|守则|守則|规定|規定|要求|安全策略|安全政策|系统消息|系統訊息|对话|對話|上下文|内容|內容|消息|提示(?:$|[^\p{Han}信框符]))`,
		unless:  `(?:不要|请勿|切勿|绝不|绝不能|不能|不得|不可|拒绝|防止|避免|检测|识别) ?$`,
		follow:  `^(?:框|条|栏|音|文件|页|校验|的警告)`,
	},
	{
		name: "override", reason: "tells the agent to forget what it was told (Chinese)",
		pattern: `(?:忘记|忘記|忘掉|忽略|无视|無視)(?:你)?(?:之前|以前|先前|前面|上面)?(?:学到|學到|知道|被告知|说过|說過|我说|说)?的?(?:一切|所有|全部)(?:内容|內容|信息|资讯|事情|东西|设定)?(?:[，,。！]|$)|(?:忽略|无视|無視)(?:以上|上面|上述|之前的)(?:所有|全部|一切)?(?:[，,。！]|内容|文字|$)`,
	},
	{
		name: "override", reason: "replaces the agent's instructions (Chinese)",
		pattern: `(?:新的|真正的|最新|隐藏的|隱藏的|秘密)(?:系统|系統)?(?:指令|提示词|提示詞|任务指令|命令|指示|规则|規則)(?:如下|是|为|為|[:：])|(?:系统|系統)(?:消息|訊息|提示|指令|通知|命令|管理员|管理員) ?[:：] ?[^。\n]{0,12}(?:你|您|必须|必須|忽略|从现在|從現在|不要|新的|服从|服從|授权|执行以下|解除)|(?:从现在开始|從現在開始|从现在起|從現在起|从此刻起|自现在起|即刻起)[,， ]?(?:你|您|请你|忽略|不再|只|所有)(?:就)?(?:是|将|將|要|必须|必須|不再|只能|的身份|的名字|扮演|不受|可以|需要|应该|叫|都|忽略)?`,
		follow:  `^(?:日志|记录|弹窗|栏)`,
	},
	{
		name: "persona", reason: "gives the agent another identity (Chinese)",
		pattern: `(?:你|您)(?:现在|現在|已经|已經|如今)(?:就)?(?:是|变成|變成|成为|成為|扮演|不再是|不受|没有|沒有|拥有)[^。！？\n]{0,24}?(?:ai|助手|模型|机器人|機器人|黑客|駭客|角色|人格|dan|限制|约束|約束|规则|規則|管理员权限|最高权限|无限制|專家|专家|开发者模式|開發者模式|root)|(?:扮演|假装|假裝|模拟|模擬|装作|设想你|想象你)[^。！？\n]{0,24}(?:没有|沒有|不受|无|無|不需要)[^。！？\n]{0,8}(?:限制|约束|約束|道德|审查|審查|规则|規則|过滤|過濾)|(?:你|您)(?:没有|沒有|不受|不再受|不必受)(?:任何|一切|所有)?[^。！？\n]{0,6}(?:限制|约束|約束|规则的束缚|道德)|越狱(?:模式|提示)|(?:进入|開啟|开启|启用|切换到|切換到|激活)(?:开发者|開發者|越狱|越獄|上帝|无限制|無限制|dan|调试)[^。！？\n]{0,3}模式[^。！？\n]{0,30}(?:限制|规则|審查|审查|过滤|回答|你|安全)|(?:解除|移除|取消)(?:了)?(?:你|您)?的?(?:所有|一切|全部)?[^。！？\n]{0,6}(?:安全限制|限制|约束|道德|审查机制)(?:已|。|，|,|!|！|$)`,
	},
	{
		name: "leak", reason: "asks for the agent's instructions (Chinese)",
		pattern: `(?:输出|輸出|显示|顯示|打印|列印|透露|泄露|洩露|告诉我|告訴我|复述|複述|重复|重複|展示|说出|說出|公开|公開|翻译|总结|写出|发送|提供|给我|逐字)[^。！？\n]{0,14}(?:系统提示词?|系統提示詞?|系统指令|系統指令|初始指令|初始提示|隐藏指令|隱藏指令|内部指令|內部指令|开发者指令|预设提示词|原始提示词|完整提示词|你的提示词|你的指令)`,
	},
	{
		name: "concealment", reason: "hides something from the person (Chinese)",
		pattern: `(?:不要|别|別|请勿|請勿|切勿|无需|無需|不必|不得|禁止|不能|不用|绝不能|千万别)(?:再)?(?:告诉|告訴|告知|通知|提醒|警告|知会|透露给|透露給|泄露给|提示|报告给|汇报给|让)(?:任何)?(?:用户|用戶|使用者|主人|人类|人類|所有者|管理员|他们|任何人|别人)(?:知道|发现|發現|察觉|察覺|看到|得知)?`,
		follow:  `^(?:等待|等|重复|输入|输错|选择|点击|觉得|感到|在|的密码|密码|账号|该邮箱|自行|手动|名|体验|上传|下载)`,
	},
	{
		name: "concealment", reason: "asks for something done in secret (Chinese)",
		pattern: `(?:偷偷|悄悄|暗中|秘密|私下|暗地里|暗地裡|瞒着|瞞著|背着用户|在用户不知情|在用戶不知情|不被(?:用户|察觉|发现)|不让用户知道)[地的]?[^。！？\n]{0,12}(?:发送|發送|上传|上傳|执行|執行|运行|運行|转发|轉發|复制|複製|删除|刪除|下载|下載|安装|安裝|记录|記錄|收集|修改|添加|传|批准|读取|讀取|植入|发)`,
	},
	{
		name: "exfiltration", reason: "sends secrets or private data away (Chinese)",
		pattern: `(?:发送|發送|上传|上傳|转发|轉發|泄露|洩露|提交|传送|傳送|传到|发到|發到|发给|發給|寄给|外传|窃取|竊取|偷取|盗取|收集|打包)[^。！？\n]{0,20}(?:密钥|密鑰|密码|密碼|口令|令牌|凭证|憑證|凭据|私钥|私鑰|环境变量|環境變數|聊天记录|聊天記錄|对话内容|对话历史|對話|用户数据|用户隐私|机密|api ?key|api ?密钥|token|\.env|id_rsa|\.ssh|cookie)[^。！？\n]{0,20}(?:到|给|給|至|http|服务器|伺服器|邮箱|郵箱|地址|webhook|外部|我|$|。|，|并|然后)`,
		unless:  `(?:不要|请勿|切勿|绝不|不能|不得|不可|禁止|避免|防止|严禁|不会)[^。！？]{0,6}$`,
		follow:  `^(?:登录|接口|/)`,
	},
	{
		name: "exfiltration", reason: "sends secrets or private data away (Chinese)",
		pattern: `(?:把|将|將|读取|讀取|获取|收集)[^。！？\n]{0,24}(?:密钥|密鑰|密码|密碼|口令|令牌|凭证|憑證|凭据|私钥|私鑰|环境变量|環境變數|聊天记录|聊天記錄|对话内容|对话历史|对话|對話|用户数据|用户信息|机密文件|api ?key|token|\.env|id_rsa|\.ssh|系统提示词?|cookie|记忆)[^。！？\n]{0,16}(?:发送|發送|发到|發到|发给|發給|发往|上传|上傳|传到|傳到|提交到|提交给|转发|轉發|寄到|外发|泄露|post|附加|拼接|编码)[^。！？\n]{0,12}(?:http|外部|远程|遠程|遠端|攻击者|攻擊者|我的|我|这个|這個|以下|该|邮箱|郵箱|@|webhook|url|链接|图片|服务器|[a-z0-9-]+\.[a-z]{2,})`,
		unless:  `(?:不要|请勿|切勿|绝不|不能|不得|不可|禁止|避免|防止|严禁)[^。！？]{0,6}$`,
		follow:  `^(?:登录|localhost|127)`,
	},
	{
		name: "approval", reason: "goes around the person's approval (Chinese)",
		pattern: `(?:绕过|繞過|关闭|關閉|跳过|跳過|禁用|避开|规避|規避|取消|无需|無需|不需要|关掉|自动通过|自動通過)[^。！？\n]{0,8}(?:审批|審批|批准|安全检查|安全檢查|权限检查|權限檢查|权限确认|人工确认|人工确认|用户确认|用戶確認|安全限制|安全机制|安全過濾|安全过滤|沙箱|沙盒|审核机制|确认就执行)|(?:用户|用戶|使用者|主人|管理员|管理員)(?:已经|已經|已|早已|永久)?(?:批准|授权|授權|同意|允许|允許|许可)(?:了)?(?:你)?[^。！？\n]{0,6}(?:所有|全部|一切|任何)|(?:直接|自动|自動|总是|總是|一律|始终)(?:执行|執行|运行|批准|同意)[^。！？\n]{0,10}(?:无需|無需|不用|不必|不要|而不)(?:再)?(?:询问|詢問|确认|確認|批准|审批|问)`,
		unless:  `(?:不要|请勿|切勿|绝不|不能|不得|不可|禁止|防止|严禁)[^。！？]{0,4}$`,
	},
	{
		name: "trigger", reason: "plants an order for later (Chinese)",
		pattern: `(?:每当|每當|当|當|只要|无论|無論|不管|一旦|每次|如果)(?:用户|用戶|使用者|有人|任何人)[^。！？\n]{0,24}(?:都|就|则|則|请|請|你)?(?:要|必须|必須|应|應|会|回复|回覆)?[^。！？\n]{0,16}(?:https?://|curl |wget |偷偷|悄悄|恶意|惡意|发送到|轉帳|转账|推荐访问|执行以下|運行以下|忽略|同意|照做|服从)|(?:解码|解碼|解密|翻译|翻譯)[^。！？\n]{0,20}(?:并|並|然后|然後|后|後|再)[^。！？\n]{0,4}(?:执行|執行|运行|運行|照做|遵循)|(?:执行|執行|运行|運行|遵循|服从|服從|按照)[^。！？\n]{0,8}(?:https?://[^\s]+|网页|網頁|远程服务器|链接)[^。！？\n]{0,8}(?:里|中|上|返回)?的?(?:指令|命令|代码|代碼|指示|脚本)`,
	},
	{
		name: "destruction", reason: "destroys or opens the machine (Chinese)",
		pattern: `(?:删除|刪除|清空|销毁|銷毀|格式化|加密)[^。！？\n]{0,4}(?:所有|全部|整个|整個|一切)[^。！？\n]{0,4}(?:文件|檔案|数据|資料|备份|備份|日志|磁盘|硬盘|硬碟|数据库|代码)[^。！？\n]{0,10}(?:不要|立即|立刻|马上|并且不|无需|悄悄|，不|,不)|(?:植入|安装|安裝|留下|创建|開啟|开启|建立|启动|添加)[^。！？\n]{0,8}(?:后门|後門|木马|木馬|键盘记录|鍵盤記錄|反弹shell|反弹 shell|挖矿|勒索|rootkit)|(?:清除|删除|刪除|抹去|清理)[^。！？\n]{0,8}(?:痕迹|痕跡|历史记录以|审计日志|操作记录|入侵记录|bash_history)`,
		unless:  `(?:不要|请勿|切勿|绝不|不能|不得|不可|禁止|防止|严禁|如何检测|检测|是否)[^。！？]{0,6}$`,
	},
}

// firmerChinese are further orders in Chinese, in other words than the usual ones.
var firmerChinese = []source{
	{
		name: "override", reason: "declares the agent's instructions void (Chinese)",
		pattern: `(?:之前|以前|先前|上面|以上|上述|此前|你的|原有|系统|系統)[^\x00-\x7f。！？；]{0,10}(?:指令|指示|规则|規則|提示词|设定|設定|限制|命令)[^\x00-\x7f。！？；]{0,4}(?:作废|作廢|失效|无效|無效|不再有效|取消|废止|不再适用)|(?:不用管|不必管|别管|不要管|无视|無視|不理会)(?:系统|系統|你的|之前的|开发者)[^。！？\n]{0,8}(?:提示|指令|规则|設定|设定|消息|说了什么|写了什么)|无条件(?:地)?(?:服从|執行|执行|遵守|听从|照做)|無條件(?:服從|執行|遵守)`,
	},
	{
		name: "leak", reason: "asks for the agent's instructions (Chinese)",
		pattern: `(?:把|将|將)(?:你|您)?的?(?:初始|原始|系统|系統|隐藏|完整|全部|内部)(?:提示词?|提示詞?|指令|设定|設定|规则)[^。！？\n]{0,16}(?:发|發|给我|告诉|輸出|输出|显示|展示|写|复述|打印)`,
	},
	{
		name: "concealment", reason: "hides something from the person (Chinese)",
		pattern: `(?:别|不要|不能|不得)(?:让|讓|被)(?:用户|用戶|任何人|他们|人)(?:察觉|察覺|发现|發現|知道|看到|注意到)|(?:不要|别|不得)在[^。！？\n]{0,10}(?:回复|回答|总结|报告|日志)[^。！？\n]{0,4}(?:中|里)(?:提到|提及|记录|显示|说明)(?:这|此|该)|(?:不要|别|不)留下?(?:任何)?(?:痕迹|痕跡|记录)`,
	},
	{
		name: "trigger", reason: "plants an order for every session (Chinese)",
		pattern: `(?:每次|每个|每一次|以后|今后|从今以后|今後)[^。！？\n]{0,24}(?:curl |wget |\| ?(?:ba)?sh|下载并(?:执行|运行)|推荐 ?https?://|推荐[^。！？\n]{0,10}https?://|访问 ?https?://)|(?:以后|今后|所有|一切|任何)[^。！？\n]{0,8}(?:命令|操作|请求|动作)[^。！？\n]{0,6}(?:都)?(?:不需要|无需|不用|不必)[^。！？\n]{0,6}(?:批准|确认|審批|审批|同意|询问)`,
	},
	{
		name: "backdoor", reason: "opens a way in (Chinese)",
		pattern: `反弹 ?shell|反彈 ?shell|(?:植入|留下|安装)[^。！？\n]{0,6}(?:后门|後門|木马)`,
		unless:  `(?:检测|防止|防范|如何|是否|避免)[^。！？]{0,6}$`,
	},
}

// other are the commonest order in some more languages.
var other = []source{
	{
		name: "override", reason: "tells the agent to drop its instructions",
		pattern: `\b(?:ignora|ignore (?:todas|as|toutes|tudo|tutte)|ignorar|olvida|olvide|descarta|desconsidere|dimentica|ignoriere?n?|missachte|vergiss|ignorez|oubliez|oublie|negeer|zignoruj) (?:[^\s.;!?]+ ){0,3}?(?:instrucciones|instrucoes|instructions|istruzioni|anweisungen|instruktionen|anordnungen|regeln|instructies|instrukcje|consignes|reglas|regras)(?: (?:anteriores|previas|precedentes|precedenti|anterieures|ci-dessus|vorherigen?|poprzednie|de arriba|acima))?\b`,
		unless:  `\bno $`,
		follow:  `^ (?:in|from|for|if|when|that|on|at)\b`,
	},
	{
		name: "override", reason: "tells the agent to drop its instructions",
		pattern: `(?:игнорируи|игнорируите|проигнорируи|забудь|забудьте|игнорируй|игнорируйте|проигнорируй) (?:\S+ ){0,3}?(?:инструкции|инструкций|указания|команды|правила|инструкции)|(?:以前|これまで|上記|前|すべて|全て)の?(?:すべての|全ての)?(?:指示|命令|指令|プロンプト|ルール)(?:を|は)?(?:すべて|全て)?(?:無視|忘れ)|(?:이전|위의?|기존|모든) ?(?:의 )?(?:모든 )?(?:지시|명령|지침|프롬프트)(?:사항)?(?:를|을|은)? ?(?:모두 )?(?:무시|잊)`,
	},
}

// marks are the signs of a prompt's own frame, and text that a page hides from people.
var marks = []source{
	{
		name: "frame", reason: "imitates the frame of a prompt",
		pattern: `<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id|begin_of_text|channel|message)\|>|\[/?inst\]|<</?sys>>|</?(?:system|system-prompt|system_prompt|system-reminder|developer_message|project-file|memory-context|tool_response|function_results?)>|<(?:tool_call|function_calls|invoke name)|(?:###|---|===|\*\*\*) ?(?:system|new system|begin system|end of (?:user|system|document|context)|admin|developer) ?(?:prompt|instructions?|message|override|input|document)?(?:[:\]-]| (?:###|---|===))|\bbegin (?:new )?system (?:prompt|instructions|message)|\b(?:end of|end) (?:user|document|web ?page) (?:input|content|data)\b.{0,40}\b(?:system|new|instructions?)`,
		follow:  `^ (?:tags?|element|node|block|section|attribute)\b`,
	},
	{
		name: "frame", reason: "imitates a turn of the conversation",
		pattern: `(?:^|[.!?"'>)\]}] )(?:assistant|human) ?: ?(?:sure|of course|ok(?:ay)?|understood|yes|i will|i'll|certainly|ignore|disregard|please (?:ignore|reveal|run|send)|now)[ ,!.:]`,
	},
	{
		name: "hidden", reason: "a comment that speaks to the agent",
		pattern: `<!--.{0,300}?\b(?:{ai}|llm|system prompt|ignore (?:all|previous|prior|the above)|exfiltrate|secretly|do not tell)\b.{0,300}?\b(?:must|should|please|ignore|execute|run|send|do not|don't|always|instructions?|reveal|obey|output|include|call)\b.{0,300}?-->`,
	},
	{
		name: "hidden", reason: "text that a page hides from people speaks to the agent",
		pattern: `style ?= ?["'][^"'>]{0,80}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|opacity ?: ?0(?:["';]|\.0)|color ?: ?(?:white|#fff(?:fff)?|transparent)|left ?: ?-\d{4,})[^>]{0,80}>[^<]{0,300}?\b(?:{ai}|ignore|disregard|system|instructions?|you must|execute|send|reveal|secret|password|do not tell)\b`,
	},
	{
		name: "secret", reason: "holds a key in plain sight",
		pattern: `\b(?:sk-(?:(?:ant|proj|or)-[a-z0-9_-]{16,}|[a-z0-9]{24,})|ghp_[a-z0-9]{30,}|github_pat_[a-z0-9_]{30,}|glpat-[a-z0-9_-]{20,}|xox[abprs]-[a-z0-9-]{20,}|akia[0-9a-z]{16}|aiza[0-9a-z_-]{35})\b|-----begin (?:[a-z]+ )?private key-----[\\n\s"']{0,6}[a-z0-9+/=]{16,}`,
	},
	{
		name: "secret", reason: "holds a key in plain sight",
		pattern: `(?:api[_-]?key|secret(?:[_-]?key)?|access[_-]?token|auth[_-]?token|password|passwd)["']? ?[:=] ?["'][a-z0-9+/=_!@#%^&.-]{20,}["']`,
	},
}
