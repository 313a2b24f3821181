package recall

type keyed struct{ key, value string }

type question struct{ text, key string }

var coldFacts = []keyed{
	{"staging database", "PostgreSQL on the host vega, port 5433; the password is in the vault under shop/staging"},
	{"deploy", "Releases go out on Tuesdays with make release; never on Fridays, Maria decided that in March"},
	{"flaky test", "TestCheckout fails when the clock is near midnight UTC; rerun it, the fix is issue 412"},
	{"logging", "We chose slog over zap because of the standard library; zap stays in the gateway only"},
	{"invoice rounding", "Amounts are rounded half to even per line, not per invoice, as the tax office wants"},
	{"docker build", "The image builds only with BuildKit on; without it the cache mount fails"},
	{"customer Nordwind", "Their export needs semicolons and ISO-8859-1"},
	{"frontend", "React 19 with Vite; pnpm, not npm, or the lock file breaks"},
	{"on call", "Pager rota is in the wiki; Jonas takes the first week of the month"},
	{"mobile app", "The iOS build signs with the team certificate that expires in May 2027"},
}

var coldQuestions = []question{
	{"which port does the staging database use", "staging database"},
	{"where is the database password", "staging database"},
	{"when do we release", "deploy"},
	{"may I deploy on a Friday", "deploy"},
	{"why does TestCheckout fail at midnight", "flaky test"},
	{"the checkout test is flaky, what about it", "flaky test"},
	{"why slog and not zap", "logging"},
	{"how are invoice amounts rounded", "invoice rounding"},
	{"what did the tax office want", "invoice rounding"},
	{"docker image build fails with cache mount", "docker build"},
	{"encoding of the export for Nordwind", "customer Nordwind"},
	{"npm or pnpm for the frontend", "frontend"},
	{"what bundler does the frontend have, Vite?", "frontend"},
	{"who is on call in the first week", "on call"},
	{"when does the iOS certificate expire", "mobile app"},
	{"which certificate signs the iOS build", "mobile app"},
	{"does Maria allow releases on Tuesdays", "deploy"},
	{"where is the pager rota", "on call"},
	{"is zap still used in the gateway", "logging"},
	{"BuildKit needed for docker?", "docker build"},
}

var farQuestions = []string{
	"write a haiku about autumn leaves", "what is the capital of Mongolia", "explain monads to a child", "convert 30 fahrenheit to celsius",
	"translate good morning to French", "sort these numbers: 5 3 9", "how tall is the Eiffel tower", "suggest a name for my cat",
	"regex for an email address", "what does git rebase do", "recommend a science fiction novel", "why is the sky blue",
	"make the button green", "add a dark mode", "rename the variable foo to bar", "how do I quit vim", "summarise this article for me",
	"plan a trip to Lisbon", "what time is it in Tokyo", "fix the typo in the README",
}

// Chinese questions and what answers them, labelled by hand.
var chineseFacts = []keyed{
	{"测试数据库", "测试环境的数据库在 vega 主机上,端口 5433,密码放在保险库里"},
	{"发布", "每周二发布新版本,周五不允许部署,这是玛丽亚三月份决定的"},
	{"不稳定的测试", "结账测试在午夜前后会失败,重新运行即可,修复见 412 号问题"},
	{"日志库", "我们选择 slog 而不是 zap,因为它在标准库里"},
	{"发票取整", "金额按行取整,不按整张发票,这是税务局的要求"},
	{"镜像构建", "必须打开 BuildKit,否则缓存挂载会失败"},
	{"客户北风", "他们的导出文件用分号,编码是 GBK"},
	{"前端", "用 React 和 Vite,包管理器是 pnpm,不要用 npm"},
	{"值班", "值班表在维基里,约纳斯负责每月第一周"},
	{"手机应用", "苹果版本用团队证书签名,证书在 2027 年五月到期"},
}

var chineseQuestions = []question{
	{"数据库的端口是多少", "测试数据库"},
	{"测试环境的密码在哪里", "测试数据库"},
	{"什么时候发布新版本", "发布"},
	{"周五可以部署吗", "发布"},
	{"结账测试为什么会失败", "不稳定的测试"},
	{"为什么不用 zap", "日志库"},
	{"发票的金额怎么取整", "发票取整"},
	{"税务局有什么要求", "发票取整"},
	{"缓存挂载失败怎么办", "镜像构建"},
	{"北风的导出用什么编码", "客户北风"},
	{"前端用什么包管理器", "前端"},
	{"谁负责第一周的值班", "值班"},
	{"证书什么时候到期", "手机应用"},
	{"苹果版本怎么签名", "手机应用"},
	{"构建镜像需要打开什么", "镜像构建"},
	{"值班表放在哪里", "值班"},
}
