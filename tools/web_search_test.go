package tools

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// duckResult is one result in the form of DuckDuckGo's HTML page.
func duckResult(href, title, snippet string) string {
	return fmt.Sprintf(`
    <div class="result results_links results_links_deep web-result ">
      <div class="links_main links_deep result__body">
        <h2 class="result__title">
          <a rel="nofollow" class="result__a" href="%s">%s</a>
        </h2>
        <div class="result__extras"><div class="result__extras__url">
          <span class="result__icon"><a rel="nofollow" href="%[1]s"><img class="result__icon__img" width="16" height="16" alt="" src="//external-content.duckduckgo.com/ip3/x.ico" /></a></span>
          <a class="result__url" href="%[1]s"> openwrt.org/somewhere </a>
        </div></div>
        <a class="result__snippet" href="%[1]s">%[3]s</a>
        <div class="clear"></div>
      </div>
    </div>`, href, title, snippet)
}

func duckPage(results string) string {
	return `<!DOCTYPE html><html lang="en"><head><title>no results. at DuckDuckGo</title><link rel="stylesheet" href="/dist/h.css"></head>
<body class="body--html"><form action="/html/" method="post"><input name="q" type="text" value="No results. anomaly-modal"></form>
<div id="links" class="results">` + results + `<div class="nav-link"><form action="/html/"><input type="submit" value="Next"></form></div></div></body></html>`
}

const wrapped = "//duckduckgo.com/l/?uddg=https%3A%2F%2Fopenwrt.org%2Fdocs%3Fa%3D1%26b%3D2&amp;rut=0123abcd"

// liteRow is one result in the form of DuckDuckGo's lite page.
func liteRow(n int, href, title, snippet string) string {
	return fmt.Sprintf(`<tr><td valign="top">%d.&nbsp;</td><td><a rel="nofollow" href="%s" class='result-link'>%s</a></td></tr>
<tr><td>&nbsp;&nbsp;&nbsp;</td><td class='result-snippet'>%s</td></tr>
<tr><td>&nbsp;&nbsp;&nbsp;</td><td><span class='link-text'>openwrt.org/x</span></td></tr><tr><td>&nbsp;</td><td>&nbsp;</td></tr>`, n, href, title, snippet)
}

func litePage(rows string) string {
	return `<!DOCTYPE html><html><head><title>x at DuckDuckGo</title></head><body><p class='extra'>&nbsp;</p><form action="/lite/" method="post"><input class="query" name="q" value="x"></form><table border="0">` + rows + `</table></body></html>`
}

const robotPage = `<!DOCTYPE html><html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html&cc=botnet" method="POST">
<div class="anomaly-modal__mask"><div class="anomaly-modal__modal"><div class="anomaly-modal__title">Please show that you are a person</div>
<div class="anomaly-modal__description">Choose every picture with a duck.</div></div></div></form></body></html>`

func TestDuckDuckGo(t *testing.T) {
	many := ""
	for i := range 15 {
		many += duckResult(fmt.Sprintf("https://e.org/%d", i), fmt.Sprintf("Result %d", i), "")
	}
	lite := litePage(`<tr class="result-sponsored"><td valign="top">1.&nbsp;</td><td><a rel="nofollow" href="//duckduckgo.com/y.js?ad_domain=shop.example&amp;u3=x" class='result-link'>Buy</a></td></tr><tr class="result-sponsored"><td></td><td class='result-snippet'>An offer</td></tr>` +
		liteRow(1, "https://a.org/", "First &amp; <b>best</b>", "It <b>is</b>&#x27;s") + liteRow(2, wrapped, "Second", ""))
	ad := strings.Replace(duckResult("//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Dshop.example&amp;rut=1", "Buy", "An offer"), "result results", "result result--ad results", 1)
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"html", 200, duckPage(ad + duckResult(wrapped, "The <b>OpenWrt</b>\n docs &amp; more", "How to <b>set</b> it up &#x27;well&#x27;") + duckResult("https://plain.org/x", "Plain", "")),
			"1. The OpenWrt docs & more\n   https://openwrt.org/docs?a=1&b=2\n   How to set it up 'well'\n2. Plain\n   https://plain.org/x"},
		{"lite", 200, lite, "1. First & best\n   https://a.org/\n   It is's\n2. Second\n   https://openwrt.org/docs?a=1&b=2"},
		{"ten", 200, duckPage(many), "10. Result 9\n   https://e.org/9"},
		{"results with 202", 202, lite, "1. First"},
		{"a result about the check", 200, duckPage(duckResult("https://e.org", "anomaly-modal", "No results.")), "1. anomaly-modal\n   https://e.org\n   No results."},
		{"none", 200, duckPage(`<div class="result result--no-result"><div class="no-results">No results found for <b>x</b>.</div></div>`), `No results for "x y".`},
		{"none in lite", 200, litePage("<tr><td>No results.</td></tr>"), `No results for "x y".`},
		{"no more in lite", 200, litePage("<tr><td><span>No more results.</span></td></tr>"), `No results for "x y".`},
	}
	for _, tt := range tests {
		base := site(t, func(w http.ResponseWriter, r *http.Request) {
			if q := r.URL.Query().Get("q"); q != "x y" {
				t.Errorf("%s: asked for %q", tt.name, q)
			}
			w.Header().Set("Content-Type", "text/html; charset=UTF-8")
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		})
		e := testEnv(t)
		e.Web.SearchURL = base + "/html/"
		got, err := use(t, e, "web_search", args{"query": " x\n y"})
		if err != nil || !strings.Contains(got+"\n", tt.want+"\n") && !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: web_search gives %q, %v, want %q", tt.name, got, err, tt.want)
		}
		if strings.Contains(got, "11. ") || strings.Contains(got, "Buy") || strings.Contains(got, "offer") {
			t.Errorf("%s: too much in %q", tt.name, got)
		}
	}
}

func TestDuckDuckGoFails(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"robot check", 202, robotPage, "the search was blocked"},
		{"robot check with 200", 200, robotPage, "the search was blocked"},
		{"title alone", 202, `<div class="anomaly-modal__title">x</div>`, "the search was blocked"},
		{"202 and nothing", 202, "", "the search was blocked"},
		{"forbidden", 403, "<h1>403", "the search was blocked"},
		{"too many", 429, "", "the search was blocked"},
		{"fault", 500, "<p>oh", "HTTP 500 Internal Server Error"},
		{"changed", 200, duckPage(`<article data-testid="result"><a href="https://e.org">E</a></article>`), "page could not be parsed (layout changed or blocked)"},
		{"empty", 200, "", "page could not be parsed"},
		{"japanese", 200, "<meta charset=shift_jis>\x93", "unsupported charset"},
	}
	for _, tt := range tests {
		base := site(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		})
		e := testEnv(t)
		e.Web.SearchURL = base
		got, err := use(t, e, "web_search", args{"query": "x"})
		if err == nil || !strings.HasPrefix(err.Error(), "web search: duckduckgo: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, %v, want an error with %q", tt.name, got, err, tt.want)
		}
		if err != nil && strings.Contains(strings.ToLower(err.Error()), "no results") {
			t.Errorf("%s: %v reads as if there were none", tt.name, err)
		}
	}
}

// TestSearchPages: the second page is asked where the first is blocked or
// changed, and only there.
func TestSearchPages(t *testing.T) {
	good, none := duckPage(duckResult("https://e.org/", "E", "")), litePage("<tr><td>No results.</td></tr>")
	for _, tt := range []struct {
		first, second string
		want, fault   string
		asked         int
	}{
		{good, "", "1. E", "", 1}, {none, good, "No results", "", 1}, {robotPage, good, "1. E", "", 2}, {"<p>new", good, "1. E", "", 2},
		{robotPage, none, "No results", "", 2}, {robotPage, "<p>new", "", "blocked (the engine", 2}, {"<p>new", robotPage, "", "could not be parsed", 2},
	} {
		asked := 0
		base := site(t, func(w http.ResponseWriter, r *http.Request) {
			asked++
			io.WriteString(w, map[string]string{"/1": tt.first, "/2": tt.second}[r.URL.Path])
		})
		w := &Web{}
		eng := engine{name: "x", parse: parseDuck, pages: func(*Web, string) ([]*url.URL, error) {
			first, _ := url.Parse(base + "/1")
			second, _ := url.Parse(base + "/2")
			return []*url.URL{first, second}, nil
		}}
		ctx, cancel := w.limited(t.Context())
		defer cancel()
		hits, err := w.search(ctx, &eng, "q")
		got := "No results"
		if len(hits) > 0 {
			got = "1. " + hits[0].title
		}
		if err != nil {
			got = ""
		}
		if got != tt.want || asked != tt.asked || tt.fault != "" && !strings.Contains(fmt.Sprint(err), tt.fault) {
			t.Errorf("%.20q then %.20q: %q, %v after %d requests", tt.first, tt.second, got, err, asked)
		}
	}
	pages, err := duckPages(&Web{}, "a b")
	if want := "[https://html.duckduckgo.com/html/?q=a+b https://lite.duckduckgo.com/lite/?q=a+b]"; fmt.Sprint(pages) != want || err != nil {
		t.Errorf("duckPages = %v, %v, want %s", pages, err, want)
	}
}

func TestSearXNG(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   string // result
		fault  string
	}{
		{"hits", 200, `{"query":"x y","number_of_results":0,"results":[{"url":"https://a.org/1","title":"A < B","content":"one\ntwo","engine":"x","score":1.0},{"title":"no url"},{"url":"ftp://h/"},{"url":"https://b.org","title":""}],"answers":[],"unresponsive_engines":[["y","timeout"]]}`,
			"1. A < B\n   https://a.org/1\n   one two\n2. https://b.org\n   https://b.org", ""},
		{"none", 200, `{"query":"x","results":[],"unresponsive_engines":[]}`, `No results for "x y".`, ""},
		{"silent engines", 200, `{"results":[],"unresponsive_engines":[["duckduckgo","CAPTCHA"],["brave","too many requests"],[]]}`, "", "did not answer, so there may be something: duckduckgo (CAPTCHA), brave (too many requests)"},
		{"another form", 200, `{"items":[]}`, "", "page could not be parsed"},
		{"results of another form", 200, `{"results":{}}`, "", "page could not be parsed"},
		{"hits of another form", 200, `{"results":["a","b"]}`, "", "page could not be parsed"},
		{"addresses of another form", 200, `{"results":[{"url":["https://a.org/"],"title":{"t":"A"}}]}`, "", "page could not be parsed"},
		{"results without a type", 200, `{"results":null}`, "", "page could not be parsed"},
		{"no JSON", 200, "<html>", "", "page could not be parsed"},
		{"a list", 200, "[]", "", "page could not be parsed"},
		{"JSON is off", 403, "<h1>Forbidden", "", "search.formats must have json"},
		{"limited", 429, "", "", "the search was blocked"},
		{"fault", 502, "", "", "HTTP 502 Bad Gateway"},
	}
	for _, tt := range tests {
		for _, path := range []string{"", "/", "/search"} {
			var asked url.Values
			base := site(t, func(w http.ResponseWriter, r *http.Request) {
				if asked = r.URL.Query(); r.URL.Path != "/search" {
					t.Errorf("asked at %s", r.URL.Path)
				}
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})
			e := testEnv(t)
			e.Web.Search, e.Web.SearchURL = "searxng", base+path
			if tt.fault != "" {
				wantError(t, e, "web_search", args{"query": "x y"}, "web search: searxng: ", tt.fault)
			} else {
				want(t, e, "web_search", args{"query": "x y"}, tt.want)
			}
			if asked.Encode() != "format=json&q=x+y" {
				t.Errorf("asked for %s", asked.Encode())
			}
		}
	}
}

func TestBrave(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   string
		fault  string
	}{
		{"hits", 200, `{"type":"search","web":{"type":"search","results":[{"title":"A &amp; B","url":"https://a.org/","description":"<strong>one</strong> &quot;two&quot;"}]}}`, "1. A & B\n   https://a.org/\n   one \"two\"", ""},
		{"none", 200, `{"query":{"original":"x"},"type":"search"}`, `No results for "x".`, ""},
		{"none of the web", 200, `{"type":"search","web":{"results":[]}}`, `No results for "x".`, ""},
		{"another form", 200, `{"hits":[]}`, "", "page could not be parsed"},
		{"results of another form", 200, `{"type":"search","web":{"results":{"url":"https://a.org/"}}}`, "", "page could not be parsed"},
		{"hits of another form", 200, `{"type":"search","web":{"results":[{"url":7}]}}`, "", "page could not be parsed"},
		{"a web of another form", 200, `{"type":"search","web":[]}`, "", "page could not be parsed"},
		{"wrong key", 401, `{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID"}}`, "", "the key was refused"},
		{"wrong key too", 422, `{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID"}}`, "", "SUBSCRIPTION_TOKEN_INVALID"},
		{"used up", 429, `{"error":{"code":"RATE_LIMITED"}}`, "", "too many searches for now"},
	}
	for _, tt := range tests {
		base := site(t, func(w http.ResponseWriter, r *http.Request) {
			if key := r.Header.Get("X-Subscription-Token"); key != "k3y" || r.URL.RawQuery != "count=10&q=x" {
				t.Errorf("asked for %s with the key %q", r.URL.RawQuery, key)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		})
		e := testEnv(t)
		e.Web.Search, e.Web.SearchURL, e.Web.SearchKey = "brave", base, "k3y"
		if tt.fault != "" {
			wantError(t, e, "web_search", args{"query": "x"}, "web search: brave: ", tt.fault)
		} else {
			want(t, e, "web_search", args{"query": "x"}, tt.want)
		}
	}
}

// TestSearchKeyStays: the key goes to the engine and no further.
func TestSearchKeyStays(t *testing.T) {
	other := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Subscription-Token") != "" {
			t.Error("the key went to another server")
		}
		io.WriteString(w, `{"type":"search"}`)
	})
	same := 0
	base := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Subscription-Token") == "k3y" {
			same++
		}
		to := other
		if r.URL.Path == "/first" {
			to = "/second"
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
	e := testEnv(t)
	e.Web.Search, e.Web.SearchURL, e.Web.SearchKey = "brave", base+"/first", "k3y"
	want(t, e, "web_search", args{"query": "x"}, `No results for "x".`)
	if same != 2 {
		t.Errorf("the engine itself got the key %d times, want 2", same)
	}
}

func TestSearchSettings(t *testing.T) {
	for _, tt := range []struct {
		web   Web
		query string
		fault string
	}{
		{Web{}, " ", "query is empty"},
		{Web{}, strings.Repeat("x", 1001), "query is too long: 1001 bytes, at most 1000"},
		{Web{Search: "other"}, "x", `web.search names no engine: "other"`},
		{Web{Search: "searxng"}, "x", "web.search_url must name the SearXNG server"},
		{Web{Search: "brave"}, "x", "web.search_key_env"},
		{Web{SearchURL: "file:///x"}, "x", "web.search_url: only http:// and https://"},
	} {
		e := testEnv(t)
		e.Web = tt.web
		wantError(t, e, "web_search", args{"query": tt.query}, tt.fault)
	}
}

func TestUnwrapDuck(t *testing.T) {
	for href, want := range map[string]string{
		wrapped:                              "https://openwrt.org/docs?a=1&b=2",
		"/l/?kh=-1&uddg=http%3A%2F%2Fa.b%2F": "http://a.b/",
		"https://html.duckduckgo.com/l/?uddg=https%3A%2F%2Fa.b": "https://a.b",
		"https://e.org/l/?uddg=https%3A%2F%2Fa.b":               "https://e.org/l/?uddg=https%3A%2F%2Fa.b",
		"//e.org/x":                         "https://e.org/x",
		"/l/?uddg=javascript%3Ax":           "",
		"/l/?x=1":                           "",
		"/l/?uddg=%zz":                      "",
		"//duckduckgo.com/y.js?ad_domain=x": "",
		"javascript:x":                      "",
		"https://":                          "",
		"":                                  "https://duckduckgo.com/",
		"https://e.org/" + strings.Repeat("x", maxLink): "",
	} {
		if got := unwrapDuck(href); got != want {
			t.Errorf("unwrapDuck(%q) = %q, want %q", href, got, want)
		}
	}
}

func FuzzParseDuck(f *testing.F) {
	f.Add(200, duckPage(duckResult(wrapped, "t", "s")))
	f.Add(200, litePage(liteRow(1, wrapped, "t", "s")))
	f.Add(202, robotPage)
	f.Fuzz(func(t *testing.T, status int, body string) {
		p := &webPage{status: status, url: &url.URL{Scheme: "http", Host: "h"}, body: []byte(body)}
		hits, err := parseDuck(p)
		if err != nil && hits != nil || len(hits) > maxHits+1 {
			t.Fatalf("%d hits, %v", len(hits), err)
		}
		for _, h := range hits {
			if h.url == "" || h.title == "" || strings.ContainsAny(h.url+h.title+h.snippet, "\r\n") {
				t.Fatalf("hit %+v", h)
			}
		}
	})
}

func FuzzParseAnswers(f *testing.F) {
	f.Add(`{"results":[{"title":"a","url":"https://b","content":"c"}],"unresponsive_engines":[["a","b"],1]}`)
	f.Add(`{"web":{"results":[{"title":"a","url":"https://b","description":"<b>c"}]}}`)
	f.Fuzz(func(t *testing.T, body string) {
		p := &webPage{status: 200, url: &url.URL{Scheme: "http", Host: "h"}, body: []byte(body)}
		for _, parse := range []func(*webPage) ([]hit, error){parseSearx, parseBrave} {
			if hits, err := parse(p); err != nil && hits != nil {
				t.Fatalf("%d hits, %v", len(hits), err)
			}
		}
	})
}
