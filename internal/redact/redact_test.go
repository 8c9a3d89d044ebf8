package redact

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Tokens are put together here, so that no scanner takes this file for a leak.
var (
	body36  = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	ghp     = "ghp" + "_" + body36
	ant     = "sk-" + "ant-api03-" + body36 + "_" + body36 + "-AA"
	openai  = "sk-" + body36
	akia    = "AK" + "IA" + "QWERTYUIOPASDF12"
	aiza    = "AI" + "za" + body36[:35]
	jwt     = "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	bot     = "123456789" + ":" + "AAE" + body36[:32]
	slack   = "xox" + "b-123456789012-1234567890123-" + body36[:24]
	keyBody = strings.Repeat("MIIEowIBAAKCAQEA7v"+body36+"\n", 3)
)

func TestSecretsAreMaskedAndCounted(t *testing.T) {
	for _, c := range []struct {
		in, want string
		n        int
	}{
		{"token is " + ghp + ".", "token is ghp_***q7R8.", 1},
		{ant, "sk-a***8-AA", 1},
		{"\"" + openai + "\"", `"sk-a***q7R8"`, 1},
		{akia, "AK***12", 1},
		{"key=" + aiza + "&x=1", "key=AIza***6q7R&x=1", 1},
		{"gl" + "pat-" + body36[:20], "glpa***i9J0", 1},
		{slack, "xoxb***k1L2", 1},
		{"h" + "f_" + body36, "hf_a***q7R8", 1},
		{"np" + "m_" + body36, "npm_***q7R8", 1},
		{"py" + "pi-AgEIcHlwaS5vcmc" + body36, "pypi***q7R8", 1},
		{"github" + "_pat_" + body36, "gith***q7R8", 1},
		{jwt, "eyJh***sR8U", 1},
		{"https://api.telegram.org/bot" + bot + "/getMe", "https://api.telegram.org/bot1234***o5P6/getMe", 1},
		{"\x1b[31m" + ghp + "\x1b[0m", "\x1b[31mghp_***q7R8\x1b[0m", 1},
		{`{"o":"a\n` + ghp + `"}`, `{"o":"a\nghp_***q7R8"}`, 1},

		{"MY_TOKEN=abc", "MY_TOKEN=***", 1},
		{"export DB_PASS=hunter2", "export DB_PASS=***", 1},
		{"PASSWORD=a&b;c,d", "PASSWORD=***", 1},
		{"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzKEYz", "AWS_SECRET_ACCESS_KEY=wJal***KEYz", 1},
		{"FOO_SECRET='it is long' make", "FOO_SECRET='***' make", 1},
		{"a=1 API_KEY=\"x y\"\nB=2", "a=1 API_KEY=\"***\"\nB=2", 1},
		{"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = wJ***NG", 1},
		{"password = swordfish\n", "password = ***\n", 1},
		{"api_key: 'abcdef12345'", "api_key: '***'", 1},
		{"password: hunter2\nuser: bob", "password: ***\nuser: bob", 1},
		{"  - client_secret: abc123def456  # ours", "  - client_secret: ***  # ours", 1},
		{`{"access_token": "abcdefgh", "n": 1}`, `{"access_token": "***", "n": 1}`, 1},
		{`"{\"password\":\"p\\\"q\"}"`, `"{\"password\":\"***\"q\"}"`, 1},
		{`apiKey := "abc123def"`, `apiKey := "***"`, 1},
		{`:password => "geheim"`, `:password => "***"`, 1},
		{"mysql --password=geheim -u x", "mysql --password=*** -u x", 1},
		{"tool --api-key abc123 run", "tool --api-key *** run", 1},
		{"curl -u bob:geheim https://x", "curl -u bob:*** https://x", 1},

		{"Authorization: Bearer abc", "Authorization: Bearer ***", 1},
		{`curl -H "Authorization: token ` + body36 + `" x`, `curl -H "Authorization: token a1B2***q7R8" x`, 1},
		{"Proxy-Authorization: Basic dXNlcjpwYXNzd29yZA==", "Proxy-Authorization: Basic dX***==", 1},
		{"X-Api-Key: abcdef123456", "X-Api-Key: ***", 1},
		{"send Bearer " + body36 + " now", "send Bearer a1B2***q7R8 now", 1},
		{"Cookie: sid=abc; theme=dark\nHost: x", "Cookie: si***rk\nHost: x", 1},

		{"postgres://bob:ge:heim@db/x", "postgres://bob:***@db/x", 1},
		{"https://" + body36 + "@github.com/x", "https://a1B2***q7R8@github.com/x", 1},
		{"host=db password=geheim dbname=x", "host=db password=*** dbname=x", 1},
		{"Server=db;Uid=u;Pwd=geheim;Database=x", "Server=db;Uid=u;Pwd=***;Database=x", 1},
		{"https://x/y?a=1&access_token=abcd1234&b=2#f", "https://x/y?a=1&access_token=***&b=2#f", 1},
		{"https://x/y?X-Amz-Signature=" + body36 + "&b", "https://x/y?X-Amz-Signature=a1B2***q7R8&b", 1},

		{"a\n-----BEGIN RSA PRIVATE KEY-----\n" + keyBody + "-----END RSA PRIVATE KEY-----\nb", "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE***q7R8\n-----END RSA PRIVATE KEY-----\nb", 1},
		{"-----BEGIN PRIVATE KEY-----\n" + keyBody + "cut here", "-----BEGIN PRIVATE KEY-----\nMIIE***q7R8\ncut here", 1},
		{"password: \"päßwörtchen-sehr-länglich-é\"", "password: \"päßw***ch-é\"", 1},
		{ghp + "-PASS=geheim", "ghp_***q7R8-PASS=***", 2}, // only the mask shows where the name begins
		{"A_TOKEN=x B_TOKEN=y " + ghp, "A_TOKEN=*** B_TOKEN=*** ghp_***q7R8", 3},
	} {
		if got, n := String(c.in); got != c.want || n != c.n {
			t.Errorf("%q\ngot  %d %q\nwant %d %q", c.in, n, got, c.n, c.want)
		}
		checkStable(t, c.in)
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, in := range []string{
		"", "plain text", "commit 3f786850e387550fdab836ed7e6dc881de23001b",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"0193f2a4-7b1c-7c3e-9f00-1234567890ab",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"password: ", "Password:", "[sudo] password for bob: ", "Enter passphrase for key '/home/bob/.ssh/id': ",
		`os.Getenv("API_TOKEN")`, `token := os.Getenv("API_TOKEN")`, `API_KEY = os.environ["API_KEY"]`,
		"API_TOKEN=$API_TOKEN", "API_TOKEN=${API_TOKEN:-none}", "PASSWORD=$(cat /run/secret)", "curl -H \"Authorization: Bearer $TOKEN\"",
		"password: string", "password: String!", "password?: string;", "token: Token", "token: lexer.Token,", "apiKey: process.env.API_KEY,",
		`if token == "abc" {`, "token = next()", "token := lex.next(a, b)", "password=password", "password=self.password", "api_key=settings.API_KEY",
		"password must be at least 8 characters", "error: password: incorrect", "invalid token: unexpected end", "sudo: a password is required",
		"max_tokens=4096 tokens: 12", `"eos_token": "</s>"`, "PWD=/home/bob", "OLDPWD=/srv", "nextToken=abc12345",
		"<input type=password name=password>", "PASS: TestX (0.02s)", "--- PASS: TestToken (0.00s)", "bypass=1", "compass: north",
		"sk-learn-contrib-very-long-name-of-a-package", "task-1234567890123456789012345", "the sk-", "hf_hub_download", "npm_config_registry=https://x",
		"https://example.org/a?b=c&page=2", "https://bob@example.org/x", "git@github.com:a/b.git", "ssh://git@host:22/x", "http://[::1]:8080/",
		"redis://:${REDIS_PASSWORD}@db:6379", "postgres://bob:<password>@db", "time 12:34:56", "docker run -u 1000:1000 x", "map[string]string{}",
		"-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
		"API_KEY=your_api_key_here", "api_key: \"<your key>\"", "TOKEN=", "password=\"\"", "SECRET=********", "token: null", "--token-file /x", "--password-stdin",
		"secretName: db-credentials", "secretKeyRef:", "kind: Secret", "key: value", "primary_key=id", "cache_key: abc12345", "public_key=abc",
		"a == b; c != d; e := f", "x-----------y", "eyJ", "eyJ.eyJ.x", "12345678:short", "monkey=banana", "\\", "\x1b[", "=", ":", "-", "://", "a://",
	} {
		if got, n := String(in); got != in || n != 0 {
			t.Errorf("%q became %q (%d)", in, got, n)
		}
	}
}

// checkStable is the promise that masks are left alone.
func checkStable(t interface {
	Helper()
	Fatalf(string, ...any)
}, in string,
) {
	t.Helper()
	once, n := String(in)
	if twice, again := String(once); again != 0 || twice != once {
		t.Fatalf("%q\nonce  %q (%d)\ntwice %q (%d)", in, once, n, twice, again)
	}
	if utf8.ValidString(in) && !utf8.ValidString(once) {
		t.Fatalf("%q became invalid UTF-8: %q", in, once)
	}
}

// pieces are what texts are drawn from, so that secrets meet each other, masks
// and half of themselves.
func pieces() *rapid.Generator[string] {
	words := []string{
		ghp, ant, openai, akia, aiza, jwt, bot, slack, "***", "ab***cd", "PASS", "WORD", "PASSWORD", "_TOKEN", "token", "=", ":", ": ", " = ", ":=", "=>", "==",
		"\"", "'", "\\\"", "\\n", "\n", " ", "&", "?", ";", ",", "--", "-", "_", ".", "://", "@", "/", "#", "{", "}", "(", ")", "$", "<", ">", "é", "日本", "\xff",
		"-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", body36, "Bearer ", "Authorization", "Cookie", "curl ", "-u ", "\x1b[31m", "api_key", "a", "1", "eyJ", "sk-", "ghp_", "github_pat_", "x",
	}
	return rapid.OneOf(rapid.SampledFrom(words), rapid.StringN(0, 6, -1))
}

func TestRedactingTwiceChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkStable(t, strings.Join(rapid.SliceOfN(pieces(), 0, 30).Draw(t, "pieces"), ""))
	})
}

func TestJSONKeepsItsShape(t *testing.T) {
	for _, c := range []struct {
		in, want string
		n        int
	}{
		{`{ "api_key" : "abcdef" , "n":1.50 }`, `{ "api_key" : "***" , "n":1.50 }`, 1},
		{`{"cmd":"echo \"` + ghp + `\"\n<b>"}`, `{"cmd":"echo \"ghp_***q7R8\"\n<b>"}`, 1},
		{`{"` + ghp + `":true}`, `{"` + ghp + `":true}`, 0},
		{`{"password":{"a":"x"},"b":"y"}`, `{"password":{"a":"x"},"b":"y"}`, 0},
		{`{"password":["x","yy"],"b":"y"}`, `{"password":["***","***"],"b":"y"}`, 2},
		{`["run","--token","abc123","--","x"]`, `["run","--token","***","--","x"]`, 1},
		{`["--password","--force"]`, `["--password","--force"]`, 0},
		{`{"headers":{"Authorization":"Bearer abcdefgh"}}`, `{"headers":{"Authorization":"Bearer ***"}}`, 1},
		{`{"type":"object","properties":{"password":{"type":"string"}}}`, `{"type":"object","properties":{"password":{"type":"string"}}}`, 0},
		{`"` + ghp + `"`, `"ghp_***q7R8"`, 1},
		{`null`, `null`, 0},
		{`not json ` + ghp, `not json ghp_***q7R8`, 1},
	} {
		got, n := JSON(json.RawMessage(c.in))
		if string(got) != c.want || n != c.n {
			t.Errorf("%s\ngot  %d %s\nwant %d %s", c.in, n, got, c.n, c.want)
		}
		if twice, again := JSON(got); again != 0 || string(twice) != string(got) {
			t.Errorf("%s: twice %d %s", c.in, again, twice)
		}
	}
}

// shapeOf replaces every string value by one letter.
func shapeOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = shapeOf(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = shapeOf(e)
		}
		return out
	case string:
		return "s"
	}
	return v
}

func TestJSONOfAnythingStaysTheSameStructure(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(pieces(), 0, 8).Draw(t, "text"), "")
	})
	key := rapid.OneOf(rapid.SampledFrom([]string{"password", "api_key", "Authorization", "cmd", "n"}), text)
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]any{
			"list": rapid.SliceOfN(text, 0, 4).Draw(t, "list"), key.Draw(t, "key"): text.Draw(t, "value"),
			"in": map[string]any{key.Draw(t, "inner key"): rapid.SliceOfN(text, 0, 3).Draw(t, "inner"), "n": 1.5},
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := JSON(raw)
		var before, after any
		if err := json.Unmarshal(raw, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%s became %s: %v", raw, got, err)
		}
		a, _ := json.Marshal(shapeOf(before))
		b, _ := json.Marshal(shapeOf(after))
		if string(a) != string(b) {
			t.Fatalf("%s\nbecame %s", raw, got)
		}
		if twice, n := JSON(got); n != 0 || string(twice) != string(got) {
			t.Fatalf("twice: %d\n%s\n%s", n, got, twice)
		}
	})
}

func TestCleanTextIsReturnedAsItCame(t *testing.T) {
	b := []byte("nothing here")
	if got, n := Bytes(b); n != 0 || &got[0] != &b[0] {
		t.Error("clean bytes were copied")
	}
	raw := json.RawMessage(`{"a":"b"}`)
	if got, n := JSON(raw); n != 0 || &got[0] != &raw[0] {
		t.Error("clean JSON was copied")
	}
	secret := []byte("A_TOKEN=abc")
	if _, n := Bytes(secret); n != 1 || string(secret) != "A_TOKEN=abc" {
		t.Error("the caller's bytes were changed")
	}
}

func FuzzString(f *testing.F) {
	f.Add("API_KEY=abc " + ghp + " https://a:b@c\n-----BEGIN RSA PRIVATE KEY-----\n")
	f.Fuzz(func(t *testing.T, s string) { checkStable(t, s) })
}

// hostile are texts made to be looked at again and again.
func hostile() map[string]string {
	out := map[string]string{}
	for _, s := range []string{
		"eyJ-", "eyJ-eyJhbGciOi.", "github_pat_", "hvs.-", "password=", "password='", "password: a ", "-----BEGIN RSA PRIVATE KEY-----", "://", "a://b:", "--token ",
		"TOKEN=$", "=", ":", "-", "\\n", "\x1b[", "1", "token", "curl -u a", "Cookie: ", "cookie: a", "\nCookie: a=***", "Cookie: a", "Authorization: ", "api_key=\"", "A_TOKEN=***", "*", "\\\"", "{{",
	} {
		out[s] = strings.Repeat(s, 1<<20/len(s))
	}
	return out
}

// TestHostileTextTakesLinearTime ends within the limit of the test run only
// when no text is walked again from each of its beginnings.
func TestHostileTextTakesLinearTime(t *testing.T) {
	for _, text := range hostile() {
		checkStable(t, text)
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile() {
		b.Run(strings.ReplaceAll(name, "/", "|"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				String(text)
			}
		})
	}
}

func BenchmarkClean(b *testing.B) {
	for name, line := range map[string]string{
		"log":    "2026-01-02T03:04:05Z INFO server: GET /api/v1/items?page=2&size=50 status=200 duration=12ms id=0193f2a4-7b1c\n",
		"go":     "\tif err := s.write(path, data, mode); err != nil {\n\t\treturn fmt.Errorf(\"write: %w\", err)\n\t}\n",
		"prose":  "A tool that hides what it lost is worse than one that failed, because nobody looks for what is not missing.\n",
		"base64": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg" + "abcdefgh\n",
	} {
		text := []byte(strings.Repeat(line, 4<<20/len(line)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, n := Bytes(text); n != 0 {
					b.Fatal("redacted")
				}
			}
		})
	}
}
