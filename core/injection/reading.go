package injection

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// readSimplified reads traditional Chinese in simplified letters, and in the words that the
// mainland uses.
func readSimplified(_ string, t folded) (folded, bool) {
	table := traditional()
	if !strings.ContainsFunc(t.text, func(r rune) bool { _, ok := table[r]; return ok }) {
		return folded{}, false
	}
	b := newBuilder(len(t.text))
	for i := 0; i < len(t.text); {
		r, n := utf8.DecodeRuneInString(t.text[i:])
		if s, ok := table[r]; ok {
			r = s
		}
		b.writeRune(r, t.at[i])
		i += n
	}
	return readMainlandWords(b.finish(t.at[len(t.at)-1])), true
}

// readMainlandWords puts the mainland's words for Taiwan's, after the letters are simplified.
func readMainlandWords(t folded) folded {
	b := newBuilder(len(t.text))
	for i := 0; i < len(t.text); {
		n, word := 0, ""
		for _, pair := range regional {
			if strings.HasPrefix(t.text[i:], pair[0]) {
				n, word = len(pair[0]), pair[1]
				break
			}
		}
		if n == 0 {
			r, size := utf8.DecodeRuneInString(t.text[i:])
			b.writeRune(r, t.at[i])
			i += size
			continue
		}
		for _, r := range word {
			b.writeRune(r, t.at[i])
		}
		i += n
	}
	return b.finish(t.at[len(t.at)-1])
}

var regional = [][2]string{
	{"使用者", "用户"},
	{"伺服器", "服务器"},
	{"金钥", "密钥"},
	{"档案", "文件"},
	{"列印", "打印"},
	{"传送", "发送"},
	{"资讯", "信息"},
	{"程式码", "代码"},
	{"程式", "程序"},
	{"讯息", "消息"},
	{"人工智慧", "人工智能"},
	{"网路", "网络"},
	{"凭证", "凭据"},
}

// traditional is built once: the letters of the first list are written like those of the second, in
// this order.
var traditional = sync.OnceValue(func() map[rune]rune {
	from := []rune("無視記憶設實現時請發給傳送將說這個為從變數環據證鑰碼審關閉繞過權執運確認問詢詞輸顯開啟別訴讓會話轉寄對資訊檔刪務層級應該須規則條與壞總統長體網鏈駭隱藏瞞備後門條聽從遵內容當處製複讀寫導齊錄達態進擊擬轉換約許獲徵須譯歷憶單雙個電腦遠載點貼號識別機標創檢測簡參備幫運處試試線連結頁繼續終結監視總選擇隨項齊術構雲價產業護衛險擊駁責貴賬財義權無論議談調諾謝註評該詳誤誰課買賣質贊越趕車軟較輔輯輪農迴違遞選遺還鄰醫釋鐘鐵鍵鎖長門閉間閱隊際難雜離電靈靜頂項順預頻題額願類驅驗驚")
	to := []rune("无视记忆设实现时请发给传送将说这个为从变数环据证钥码审关闭绕过权执运确认问询词输显开启别诉让会话转寄对资讯档删务层级应该须规则条与坏总统长体网链骇隐藏瞒备后门条听从遵内容当处制复读写导齐录达态进击拟转换约许获征须译历忆单双个电脑远载点贴号识别机标创检测简参备帮运处试试线连结页继续终结监视总选择随项齐术构云价产业护卫险击驳责贵账财义权无论议谈调诺谢注评该详误谁课买卖质赞越赶车软较辅辑轮农回违递选遗还邻医释钟铁键锁长门闭间阅队际难杂离电灵静顶项顺预频题额愿类驱验惊")
	table := make(map[rune]rune, len(from))
	for i, r := range from {
		if to[i] != r {
			table[r] = to[i]
		}
	}
	return table
})

// readUnspacedChinese joins Chinese letters that stand apart: 忽 略 之 前.
func readUnspacedChinese(_ string, t folded) (folded, bool) {
	if !apart().MatchString(t.text) {
		return folded{}, false
	}
	b := newBuilder(len(t.text))
	last := rune(0)
	for i := 0; i < len(t.text); {
		r, n := utf8.DecodeRuneInString(t.text[i:])
		next, _ := utf8.DecodeRuneInString(t.text[i+n:])
		if r != ' ' || !unicode.Is(unicode.Han, last) || !unicode.Is(unicode.Han, next) {
			b.writeRune(r, t.at[i])
		}
		last = r
		i += n
	}
	return b.finish(t.at[len(t.at)-1]), true
}

var apart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\p{Han} ){3}\p{Han}`)
})

// readHyphened reads words that a sign joins as words: ignore-previous-instructions,
// ignore_all_previous.
func readHyphened(_ string, t folded) (folded, bool) {
	hits := chained().FindAllStringIndex(t.text, 200)
	if hits == nil {
		return folded{}, false
	}
	return t.rewriteBytes(hits, func(b *builder, c byte, at int) {
		if c >= 'a' && c <= 'z' {
			b.addRune(rune(c), at)
		} else {
			b.writeSpace(at)
		}
	}), true
}

var chained = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:ignore|disregard|forget|override|bypass|reveal|do|you|skip|disable)(?:[-_.+/]+[a-z]+){2,}`)
})
