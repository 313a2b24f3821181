package secret

import (
	"strings"
	"testing"
)

const (
	r16 = "aB3dE5gH7jK9mN1p"
	r20 = r16 + "qR2s"
	r24 = r20 + "tU4v"
	r32 = r16 + "Zy8xWv6uTs4rQp2o"
	r40 = r32 + "Lk5jHg3f"
	r48 = r40 + "Ds1aPo9i"
	x32 = "0123456789abcdef0123456789abcdef"

	guid   = "3f2c1b7a-9a1b-4c4d-8e8f-1234567890ab"
	botKey = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.AbCdEfGhIjKlMnOpQrStUvWxYz0123456789Ab"
	marked = "⟦" + botKey + "⟧"
	bcrypt = "$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC"
	head64 = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
	body64 = "eyJzdWIiOiIxMjM0NTY3ODkwIn0"
)

// shaped are texts with a secret in them: what stands between ⟦ and ⟧ is hidden.
var shaped = []string{
	// Models.
	"⟦sk-" + r48 + "⟧", "key ⟦sk-proj-abcdefghijklmnop1234⟧", "⟦sk-ant-api03-" + r48 + "-" + r20 + "AA⟧", "⟦sk-or-v1-" + x32 + x32 + "⟧",
	"⟦sk-lf-3f2c1b7a-9a1b-4c4d-8e8f-1234567890ab⟧", "⟦gsk_" + r48 + "⟧", "⟦xai-" + r48 + "⟧", "⟦hf_" + r32 + "⟧", "⟦pplx-" + r48 + "⟧", "⟦r8_" + r32 + "⟧",
	"⟦csk-" + r48 + "⟧", "⟦nvapi-" + r48 + "⟧", "⟦tvly-dev-" + r32 + "⟧", "⟦lsv2_pt_" + x32 + "_0123456789⟧", "⟦rk-" + r24 + "⟧",
	// Version control, packages.
	"⟦ghp_abcdefghijklmnopqrstuvwxyz0123⟧", "⟦gho_" + r32 + "⟧", "⟦ghs_" + r40 + "⟧", "⟦ghr_" + r40 + "⟧", "⟦ghu_" + r40 + "⟧", "⟦github_pat_11ABCDEFG0" + r40 + "⟧",
	"⟦glpat-" + r20 + "⟧", "⟦glrt-" + r20 + "⟧", "⟦npm_" + r32 + "abcd⟧", "⟦pypi-AgEIcHlwaS5vcmc" + r40 + "⟧", "⟦dckr_pat_" + r24 + "abc⟧", "⟦rubygems_" + x32 + "0123456789abcdef⟧",
	"//registry.npmjs.org/:_authToken=⟦npm_" + r32 + "⟧", "⟦ATATT3xFfGF0" + r48 + "⟧", "⟦ATBB" + r32 + "⟧",
	// Clouds.
	"⟦AKIAIOSFODNN7EXAMPLE⟧", "aws ⟦ASIAJQABLZS4A3QDU576⟧ done", "aws_secret_access_key = ⟦wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY⟧", "AWS_SECRET_ACCESS_KEY=⟦wJalrXUtnFEMI/K7MDENG/bPxRfiCYzAbCdEfGh⟧",
	"AWS_SESSION_TOKEN=⟦IQoJb3JpZ2luX2VjEJr//////////wEaCXVzLWVhc3QtMSJHMEUCIQDx⟧", "X-Amz-Signature=⟦" + x32 + x32 + "⟧", "X-Amz-Security-Token=⟦FwoGZXIvYXdzEBYaDK7" + r32 + "⟧",
	"⟦AIza" + "SyD3xampleK3yF0rT3sts0nlyAbCdEfGhI⟧", "⟦ya29.a0AfH6SMC" + r48 + "⟧", "⟦GOCSPX-" + r32 + "⟧", `"private_key_id": "abc", "private_key": "⟦-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----⟧\n"`,
	"DefaultEndpointsProtocol=https;AccountName=x;AccountKey=⟦" + r40 + r40 + "==⟧;EndpointSuffix=core", "Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=⟦" + r40 + "=⟧",
	"https://x.blob.core/c?sv=2022&sig=⟦" + r40 + "%3D⟧", "⟦dop_v1_" + x32 + x32 + "⟧", "⟦hvs." + r40 + "⟧", "⟦dapi" + x32 + "⟧", "⟦glsa_" + r32 + "_01234567⟧", "⟦tskey-auth-" + r16 + "CNTRL-" + r32 + "⟧",
	"⟦AGE-SECRET-KEY-1QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQQPZRY9X8GF2TVDW0S3J⟧", "⟦sbp_" + x32 + "01234567⟧", "⟦LTAI5t" + r20 + "⟧", "⟦CFPAT-" + r40 + "⟧", "⟦figd_" + r40 + "⟧", "⟦lin_api_" + r40 + "⟧", "⟦NRAK-" + r24 + "ABC⟧",
	// Chat, mail, payment.
	"⟦xoxb-123456789012-1234567890123-" + r24 + "⟧", "⟦xoxp-123456789012-123456789012-" + r32 + "⟧", "⟦xapp-1-A0123456789-1234567890123-" + x32 + "⟧", "https://⟦hooks.slack.com/services/T00000000/B00000000/" + r24 + "⟧",
	"https://⟦discord.com/api/webhooks/123456789012345678/" + r48 + "⟧", "bot ⟦123456789:AAEhBP0av28Y1Yc7nWGXl9j8aBcDeFgHiJk⟧", "/bot⟦123456789:AAEhBP0av28Y1Yc7nWGXl9j8aBcDeFgHiJk⟧/getMe",
	"⟦SG." + r20 + "ab." + r40 + "abc⟧", "⟦xkeysib-" + x32 + x32 + "-" + r16 + "⟧", "⟦sk_live_" + r24 + "⟧", "⟦rk_test_" + r24 + "⟧", "⟦whsec_" + r32 + "⟧", "⟦shpat_" + x32 + "⟧", "⟦sq0atp-" + r20 + "ab⟧", "⟦key-" + x32 + "⟧", "⟦SK" + x32 + "⟧",
	// Tokens, headers, addresses.
	"⟦eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef⟧", "Authorization: Bearer ⟦abcdef123456789⟧", "curl -H 'Authorization: token ⟦" + r40 + "⟧'", `"Authorization": "Basic ⟦dXNlcjpwYXNzd29yZA==⟧"`, "authorization: ⟦" + r32 + "⟧",
	"Proxy-Authorization: Basic ⟦dXNlcjpwYXNzd29yZA==⟧", "x-api-key: ⟦" + r32 + "⟧", "X-Auth-Token: ⟦" + r32 + "⟧", "Cookie: sid=⟦" + r32 + "; theme=dark⟧", "Set-Cookie: sid=⟦" + r32 + "⟧; Path=/; HttpOnly", "postgres://me:⟦hunter2⟧@host/db",
	"https://user:⟦p4ss%40word⟧@example.com/x", "redis://:⟦s3cr3tpw⟧@localhost:6379/0", "mongodb+srv://u:⟦p@ss⟧@cluster0.x.net/?w=1", "git clone https://oauth2:⟦glpat-" + r20 + "⟧@gitlab.com/x.git", "amqp://guest:⟦guest1⟧@mq:5672/",
	"sqlserver://sa:⟦Str0ng!Pass⟧@db:1433?database=x", "Server=db;User Id=sa;Password=⟦Str0ng!Passw0rd⟧;Encrypt=no",
	// Speech, pictures, search, models and chats of other vendors.
	"⟦sk_" + x32 + "0123456789abcdef⟧", "xi-api-key: ⟦" + x32 + "⟧", `{"xi_api_key": "⟦` + x32 + `⟧"}`,
	"FAL_KEY=⟦" + guid + ":" + x32 + "⟧", "Authorization: Key ⟦" + guid + ":" + x32 + "⟧",
	"credentials: '⟦" + guid + ":" + x32 + "⟧'", "⟦" + guid + ":" + x32 + "⟧",
	"EXA_API_KEY=⟦" + guid + "⟧", "x-api-key: ⟦" + guid + "⟧", `new Exa({apiKey: "⟦` + guid + `⟧"})`,
	"⟦BSA" + r24 + "wXyZ⟧", "X-Subscription-Token: ⟦BSA" + r24 + "w5Y⟧",
	"ZHIPUAI_API_KEY=⟦" + x32 + "." + r16 + "⟧", "client = ZhipuAI('⟦" + x32 + "." + r16 + "⟧')",
	"⟦" + x32 + "." + r16 + "⟧", "the key is ⟦" + x32 + "." + r16 + "⟧.",
	"https://oapi.dingtalk.com/robot/send?access_token=⟦" + x32 + x32 + "⟧", "⟦SEC" + x32 + x32 + "⟧",
	"DINGTALK_CLIENT_SECRET=⟦" + r40 + r24 + "⟧", `"appSecret": "⟦` + r40 + r24 + `⟧"`,
	marked, "Authorization: Bot " + marked, "client.run('" + marked + "')", "DISCORD_TOKEN=" + marked,
	"⟦mfa." + r40 + r40 + "abcd⟧",
	// Tokens in other forms.
	"⟦" + head64 + "." + body64 + "⟧", "⟦" + head64 + "." + body64 + ".⟧", "⟦" + head64 + "==." + body64 + "=.c2ln⟧",
	"⟦" + head64 + "=." + body64 + "==." + r40 + "=⟧ end", "jwt:⟦" + head64 + ".." + r16 + "." + r40 + "." + r20 + "⟧",
	"⟦" + head64 + "." + r40 + "." + r16 + "." + r40 + "." + r20 + "⟧", "see ⟦" + head64 + "." + body64 + "⟧, it",
	// Files of logins.
	"machine example.com login me password ⟦hunter2⟧", "machine example.com\n  login me\n  password ⟦hunter2⟧\n",
	"machine api.x.io password ⟦c0rr3ct⟧ login me",
	"default login anonymous password ⟦me@example⟧", "machine h account a login l password ⟦s$cret⟧ macdef init",
	"me:⟦$apr1$Zf0kAfRq$0rL5pbZ0kZ3yKJ7oGZ4zM/⟧", "me:⟦" + bcrypt + "⟧", "me:⟦{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=⟧",
	"me:⟦{SSHA}uv2zkQ0pXr0mX1v9w3E2Yc7l1a9kZ3Jx⟧", "root:⟦$1$abcdefgh$0rL5pbZ0kZ3yKJ7oGZ4zM/⟧:19000",
	"⟦$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaJObG⟧",
	// Names and values.
	"OPENAI_API_KEY=⟦abcdefgh12⟧", `{"api_key": "⟦abcdefgh12⟧", "a": 1}`, "password: ⟦Tr0ub4dor&3⟧", `password = "⟦correcthorse⟧"`, "PASSWORD=⟦correcthorse⟧", "DB_PASSWORD='⟦hunter22⟧'", "export GITHUB_TOKEN=⟦0a1b2c3d4e5f6a7b8c9d⟧",
	"client_secret=⟦" + r32 + "⟧&grant_type=x", `"client_secret":"⟦` + r32 + `⟧"`, `{\"password\":\"⟦s3cr3tpw⟧\"}`, "--password ⟦s3cr3tpw⟧ -v", "--token=⟦" + r32 + "⟧", "access_token=⟦" + r32 + "⟧", "refresh_token: ⟦" + r32 + "⟧", "secret_key_base: ⟦" + x32 + x32 + "⟧",
	"ENCRYPTION_KEY=⟦" + r32 + "⟧", "signing_key: '⟦" + r32 + "⟧'", "apiKey: \"⟦" + r32 + "⟧\",", "MASTER-KEY: ⟦" + r32 + "⟧", "passphrase: ⟦c0rrect-h0rse⟧", "db_pwd=⟦s3cr3tpw⟧", "token%3D⟦" + r32 + "⟧", "MY_SECRET=⟦correcthorsebattery⟧", "session_key=⟦" + r32 + "⟧",
	"_password=⟦aGVsbG8xMjM0⟧", "ANSIBLE_VAULT_PASSWORD=⟦longpassword⟧", `const password = '⟦S3cretP4ss⟧'`,
	// Blocks.
	"⟦-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----⟧", "a ⟦-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk=\n-----END OPENSSH PRIVATE KEY-----⟧ z", "⟦-----BEGIN EC PRIVATE KEY-----\ncut off",
	"⟦-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----⟧", "root:⟦$6$rounds5000$" + r48 + "⟧:19000:0:99999:7:::",
	// Around them.
	"(⟦ghp_" + r32 + "⟧)", "\"⟦ghp_" + r32 + "⟧\"", "x\\n⟦ghp_" + r32 + "⟧\\n", "u=%3D⟦ghp_" + r32 + "⟧%26", "⟦ghp_" + r32 + "⟧.", "\x1b[31m⟦ghp_" + r32 + "⟧\x1b[0m", "key:⟦sk-" + r32 + "⟧,", "密钥⟦sk-" + r32 + "⟧。",
}

// plain are texts that stay as they are.
var plain = []string{
	"nothing to hide in dev", "tokens: 12", "max_tokens=4096", "prompt_tokens: 123456789", "total_tokens=12345678", "token_count: 99999999", "secret_name: my-database-secret", "nextPageToken: CAUQAA12345678", `"continuation_token": "abc123def456"`,
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "550e8400-e29b-41d4-a716-446655440000", "sha512-" + strings.Repeat("aB3+/x", 14) + "==", `"integrity": "sha512-MN1pqR2s` + r40 + r32 + `=="`,
	"golang.org/x/sys v0.28.0 h1:Fksou7UEQUWlKvIdsqzJmUmCX3cZuD2+P3XyyzwMhlA=", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
	"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ me@here", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ",
	"https://example.com/path?q=1", "http://localhost:8080/a@b", "http://127.0.0.1:5432/db", "git@github.com:owner/repo.git", "mailto:me@example.com", "https://user@example.com/x", "ssh://git@host:22/x", "see https://a.b/c: it is at d@e.f",
	"postgres://user:$PASSWORD@host/db", "postgres://user:${DB_PASS}@host/db", "https://<user>:<password>@host", "password: string", "password: str = None", "token := getToken(ctx)", "token = os.environ['TOKEN']", "api_key = os.getenv(\"OPENAI_API_KEY\")",
	"apiKey: process.env.OPENAI_API_KEY", "OPENAI_API_KEY=$OPENAI_API_KEY", "OPENAI_API_KEY=${OPENAI_API_KEY}", "TOKEN=<your token>", "token: your_token_here", "password: ********", "password=xxxxxxxxxxxx", "secret: null", "password: true", "api_key: \"\"", "password=", "Password: ",
	"func (t *Token) Secret() string {", "type SecretKey struct {", "if token == nil {", "if password != other {", "return token, nil", "const secret = require('./secret')", "self.token = token", "token: Token", "secretKeyRef:", "name: my-secret", "passwordHash bool", "password_reset_url: /reset",
	"Enter your password: please", `"password": "Enter your password here"`, "the secret: nobody knows it", "access token: see the docs", "basic understanding of things", "Basic authentication is used", "Bearer authentication", "bearer of bad news", "Authorization: required",
	"sk-fading-circle", "sk-folding-cube sk-cube1", "class=\"sk-chasing-dot\"", "task-management-system-2024", "risk-assessment-framework", "desk-1234567890123456", "disk-aB3dE5gH7jK9mN1p", "AKIA", "AKIAlowercase", "XAKIAIOSFODNN7EXAMPLEX", "eyJ", "eyJ.eyJ", "heyJude.plays.music", "ghp_short", "xoxb", "hf_hub_download", "hf_transfer.enable",
	"SG. something", "EAAA", "key-value-store", "key-12", "SKIPPED", "SK001", "v1.0-beta", "npm_config_registry", "npm_lifecycle_event=test", "r8_", "fw_version=1", "secret_manager_secret_version", "glc_", "ATBB", "rnd_seed_value_for_tests", "primary_key=12345678a", "foreign_key: user_id_12345", "cache_key=abc123def456", "public_key=abc123def4567890",
	"sort --key=2", "key: value1234", "keyboard: us1234567", "monkey=banana1234", "Cookie: enabled", "cookies: 3", "cookie consent banner = yes", "document.cookie = name", "12:34:56", "12345678:AB", "10:AAEh", "$6$", "cost is $6$ or $5$", "cat /etc/passwd", "passwd: all authentication tokens updated", "/usr/share/secrets/readme",
	"--token-file /run/x1234567", "secrets: 12345678 found", "credential.helper=store", "git config credential.helper cache", "http.cookiefile", "author=12345678", "tokenizer=gpt2-medium-1234", "tokenized: abc12345", "password-store", "[hidden secret]", "token=[hidden secret]", "Bearer [hidden secret]",
	"sk_buff", "sk_test", "sk_alloc_security_context", "sk_" + x32[:12], "task_sk_0123456789", "FAL_KEY", "FAL_KEY=$FAL_KEY",
	"fal.ai/models", guid, guid + ": ready", guid + ":8080", guid + ":" + guid, "BSA", "BSAM_" + r16, "BSATree",
	"a" + x32 + "." + r16, x32 + ".txt", x32 + ".min.js", "main." + x32 + ".chunk.js", x32 + ".module.css.map.gz",
	x32 + "." + x32, x32 + ". A sentence follows", "sha1." + x32, "SEC 4.2", "SECTION", "SEC" + x32, "SECONDS=" + x32[:10],
	"access_token=$TOKEN", "dingtalk.com/robot/send", "MTA.mailer.example", "Module.Import.AbstractFactoryBeanConfigurationLoader",
	"NodeList.length.toString", "MaterialApp.of", "mfa.enabled", "mfa.required.for.all.administrators", "M.abcdef.short",
	head64, head64 + ".", head64 + ".txt", head64 + ".json.gz", "eyJ.eyJ.eyJ", "heyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0",
	"machine learning", "machine x login y", "the machine that login password reset", "machine room password protected",
	"virtual machine login page password field", "login name password", "default login shell", "machine: arm64 login: yes",
	"machine example.com login me password $PASSWORD", "machine h login l password <password>", "machinery password hunter2",
	"$apr1$", "$2y$ is bcrypt", "replace('$1$2')", "$1$", "${1}$2", "s/x/$1$2$3/", "{SHA}", "{SHA} is a scheme", "{SSHA}", "$argon2id$",
	"$1$foo.bar.baz.append(something)", "echo $2a$b", "the cost is $1$ or so",
	"rgba(12,34,56)", "0xdeadbeefdeadbeefdeadbeef", strings.Repeat("A", 400), strings.Repeat("abc123", 60), "资料: 没有秘密", "color: #aabbcc; token-color: #ddeeff",
}

func TestShapes(t *testing.T) {
	if n := len(shaped) + len(plain); n < 370 {
		t.Fatalf("%d samples, want 370", n)
	}
	for _, marked := range shaped {
		text := strings.NewReplacer("⟦", "", "⟧", "").Replace(marked)
		before, rest, _ := strings.Cut(marked, "⟦")
		_, after, _ := strings.Cut(rest, "⟧")
		if got, want := Redact(text), before+Hidden+after; got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
		if once := Redact(text); Redact(once) != once {
			t.Errorf("twice: %q", Redact(once))
		}
	}
	for _, text := range plain {
		if got := Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
