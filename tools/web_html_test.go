package tools

import (
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// page is htmlText with room for everything, as a page of http://h/dir/.
func pageText(src string) string {
	base := &url.URL{Scheme: "http", Host: "h", Path: "/dir/page", User: url.UserPassword("u", "secret")}
	text, _ := htmlText(src, base, 1<<20)
	return text
}

func TestHTMLText(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"nothing", "", ""},
		{"blanks", " \r\n\t&nbsp; \n", ""},
		{"words", "<p>one\n  two\tthree</p>", "one two three"},
		{"words over tags", "o<b>n</b>e <i>two</i><span>, three</span>", "one two, three"},
		{"paragraphs", "<p>one<p>two</p>three<div>four</div><div>five</div>", "one\n\ntwo\n\nthree\nfour\nfive"},
		{"headings", "<h1>One</h1>text<h3>Three</h3>", "# One\n\ntext\n\n### Three"},
		{"empty heading", "<h2></h2>text<h2><img></h2>", "text"},
		{"title", "<html><head><title>A &amp; B <b></title></head><body><p>c", "# A & B <b>\n\nc"},
		{"line breaks", "one<br>two<br/>three<br><br>four", "one\ntwo\nthree\n\nfour"},
		{"rule", "one<hr>two", "one\n\n---\n\ntwo"},
		{"list", "<ul><li>one<li>two</li></ul>after", "- one\n- two\n\nafter"},
		{"numbers", "<ol><li>one</li><li>two</li></ol>", "1. one\n2. two"},
		{"numbers from", "<ol start=7><li>one</li></ol><ol start=x><li>two</ol>", "7. one\n\n1. two"},
		{"nested lists", "<ul><li>one<ul><li>in</li></ul></li><li>two<ol><li>first</ol></ul>", "- one\n  - in\n- two\n  1. first"},
		{"paragraph in item", "<ul>\n<li>\n<p>one</p>\n</li>\n<li><p>two</p><p>more</p></li></ul>", "- one\n\n- two\n\nmore"},
		{"heading in item", "<ul><li><h3>Deep</h3></ul>", "- ### Deep"},
		{"item without list", "<li>one<li>two", "- one\n- two"},
		{"definitions", "<dl><dt>word</dt><dd>meaning</dd><dt>next<dd>other</dl>", "word\n  meaning\nnext\n  other"},
		{"quote", "<blockquote><p>one<p>two</blockquote>out", "> one\n\n> two\n\nout"},
		{"table", "<table><thead><tr><th>A<th>B</tr></thead><tr><td>1</td><td>2</td></tr>\n<tr><td></td><td>4</td></tr></table>", "A | B\n1 | 2\n| 4"},
		{"blocks in cells", "<table><tr><td><p>one</p></td><td><div>two</div></td></tr><tr><td><p>three</p></td></tr></table>after", "one | two\nthree\n\nafter"},
		{"caption", "<table><caption>Of things</caption><tr><td>x</table>", "Of things\nx"},
		{"code", "run <code>uci show</code>, <kbd>q</kbd>", "run `uci show`, `q`"},
		{"unpaired code", "one</code> two <code>three", "one two `three"},
		{"pre", "one<pre>\n  a  b\n\tc\n</pre>two", "one\n\n```\n  a  b\n\tc\n```\n\ntwo"},
		{"pre with code", "<pre><code class='x'>if a &lt; b\n\n  c</code></pre>", "```\nif a < b\n\n  c\n```"},
		{"pre of blocks", "<pre><div>one</div><div>two</div>three<br>four</pre>", "```\none\ntwo\nthree\nfour\n```"},
		{"pre unclosed", "<pre>one", "```\none\n```"},
		{"pre twice", "<pre><pre>one</pre></pre>two", "```\none\n```\n\ntwo"},
		{"pre non-breaking", "<pre>a&nbsp;&nbsp;b</pre>", "```\na  b\n```"},
		{"image", "<img src=x alt='a map'> <img alt=''> <img>", "[image: a map]"},
		{"scripts", "a<script>if (x<y) '</scrip' + '<b>'</script>b<style>p{}</style><STYLE></STYLE >c", "abc"},
		{"script unclosed", "a<script>b", "a"},
		{"script with a slash", "a<script src=x/>b</script>c", "ac"},
		{"script closed as in XML", "a<script src='x' />b<style/>c<svg><title/><path/></svg>d", "abcd"},
		{"hidden parts", "a<svg><title>t</title><svg/><svg></svg>x</svg>b<template><p>x</template>c<select><option>1</select>d", "abcd"},
		{"shown without scripts", "<noscript>needs <b>scripts</b></noscript>", "needs scripts"},
		{"comments", "a<!-- <p> -- > -->b<!-->c<!--->d<!DOCTYPE x>e<?php x?>f<![CDATA[x]]>g", "abcdefg"},
		{"comment unclosed", "a<!-- b", "a"},
		{"not a tag", "1 < 2 <3 a<<b>c</b> </ x>d<", "1 < 2 <3 a<c d<"},
		{"tag unclosed", "a<b", "a"},
		{"quoted >", `<a title="a > b" href='x'>link</a><i title = "c>d">e`, "link <http://h/dir/x>e"},
		{"quote unclosed", `<i title="a>b</i> c`, "b c"},
		{"upper case", "<H1>One</H1><UL><LI>two</UL>", "# One\n\n- two"},
		{"unknown", "<x-y z>a</x-y><font color=red>b</font>", "ab"},
		{"textarea", "<textarea>a<b>&amp;</textarea>", "a<b>&"},
		{"soft hyphen", "Kom&shy;po&#173;st", "Kompost"},
		{"no end tags", strings.Repeat("</p></li></ul></blockquote></pre></a>", 3) + "x", "x"},
	}
	for _, tt := range tests {
		if got := pageText(tt.src); got != tt.want {
			t.Errorf("%s: htmlText(%q) = %q, want %q", tt.name, tt.src, got, tt.want)
		}
	}
}

func TestHTMLLinks(t *testing.T) {
	tests := []struct{ src, want string }{
		{`<a href="/x">one</a>, two`, "one <http://h/x>, two"},
		{`<a href="y?a=1&amp;b=2">one</a>`, "one <http://h/dir/y?a=1&b=2>"},
		{`<a href=//other/z>one</a>`, "one <http://other/z>"},
		{`<a href="https://e/">https://e</a> <a href=https://e/f>https://e/f</a>`, "https://e https://e/f"},
		{`<a href="#top">up</a> <a name=x>here</a> <a href="">self</a>`, "up here self"},
		{`<a href="javascript:go()">a</a><a href=" JavaScript:x">b</a><a href="data:text/html,x">c</a>`, "abc"},
		{`<a href="mailto:x@y">mail</a>`, "mail <mailto:x@y>"},
		{`<a href="a b.html">one</a>`, "one <http://h/dir/a%20b.html>"},
		{"<a href='a\nb'>one</a>", "one <http://h/dir/ab>"},
		{`<a href="100%">one</a>`, "one <100%>"},
		{`<a href="/x"></a><a href=/y> </a>z`, "z"},
		{`<a href=/x>one<a href=/y>two`, "one <http://h/x>two <http://h/y>"},
		{`<a href=/x><img alt=pic></a>`, "[image: pic] <http://h/x>"},
		{`<h2><a href=/x>Head</a></h2>`, "## Head <http://h/x>"},
		{`<a href=/x><h2>Head</h2></a>after`, "## Head <http://h/x>\n\nafter"},
		{`<pre><a href="f.ipk">f..&gt;</a>  2024</pre>`, "```\nf..> <http://h/dir/f.ipk>  2024\n```"},
		{`<base href="/b/"><base href="/c/"><a href=x>one</a>`, "one <http://h/b/x>"},
		{`<base href="javascript:x"><a href=x>one</a>`, "one <http://h/dir/x>"},
		{`<base><a href=x>one</a>`, "one <http://h/dir/x>"},
		{`<a href="` + strings.Repeat("x", maxLink+1) + `">long</a>`, "long"},
		{`<meta http-equiv=Refresh content="0; url='/en/'">`, "[this page leads on to http://h/en/]"},
		{`<meta http-equiv=refresh content=30><meta name=x content="0;url=/y">z`, "z"},
	}
	for _, tt := range tests {
		if got := pageText(tt.src); got != tt.want {
			t.Errorf("htmlText(%q) = %q, want %q", tt.src, got, tt.want)
		}
	}
	if got, _ := htmlText("<a href=x>one</a><base href=/y><a href=/z>two</a>", nil, 100); got != "one <x>two </z>" {
		t.Errorf("without a base: %q", got)
	}
}

func TestHTMLTextLimit(t *testing.T) {
	for _, max := range []int{0, 1, 7, 100, 1000} {
		got, more := htmlText("<p>"+strings.Repeat("schön ", 500), nil, max)
		if len(got) > max || !more || !utf8.ValidString(got) {
			t.Errorf("htmlText with %d bytes gives %d, more %v: %q", max, len(got), more, got)
		}
	}
	if got, more := htmlText("<p>four", nil, 4); got != "four" || more {
		t.Errorf("a text of just the limit: %q, more %v", got, more)
	}
}

// TestHTMLCost: no page of the size that is read takes long or much, whatever
// it is made of.
func TestHTMLCost(t *testing.T) {
	long := strings.Repeat("x", maxLink-20)
	pieces := map[string]string{
		"open": "<", "tags": "<a", "ends": "</", "comments": "<!--", "quotes": `<a x=">`, "both quotes": `<a x=" y='>`,
		"blockquotes": "<blockquote>x", "lists": "<ul><li>x", "closes": "</ul></li></a>", "hidden": "<svg>", "selfclosed": "<script/>", "title": "<title>",
		"textareas": "<textarea></textare>", "entities": "&a;", "folded": "&NewLine;", "numbers": "&#1", "ampersands": "&", "links": "<a href=x>y</a>",
		"empty links": "<a href='&a;&b;&c;'></a>", "cells": "<td>", "rows": "<tr><td>", "pre": "<pre>x</pre>", "code": "<code></code>",
		"breaks": "<br>", "attributes": "<p " + strings.Repeat("x ", 1000) + ">", "bases": "<base href=" + long + "><a href=y>z</a>",
		"blanks": " \n", "images": "<img alt='&amp;'>", "headings": "<h1>", "prefixes": "<li><h1>", "slashes": "<p" + strings.Repeat("/", 1000) + ">",
		"results": "<a class=result__a href=/y.js>x", "snippets": "<p class=result__snippet>", "opened": "<a class=result__a href=http://x/>",
	}
	for name, piece := range pieces {
		src := strings.Repeat(piece, maxBody/len(piece))
		began := time.Now()
		text, _ := htmlText(src, &url.URL{Scheme: "http", Host: "h", Path: "/"}, maxBody)
		if len(text) > maxBody {
			t.Errorf("%s: %d bytes of text", name, len(text))
		}
		if _, err := decodeText([]byte(src), "", true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		d := duckReader{scan: htmlScanner{src: src}}
		d.read()
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s: %d bytes took %v", name, len(src), took)
		}
	}
}

func TestEntities(t *testing.T) {
	if !slices.IsSorted(entities) || len(entities) < 300 {
		t.Errorf("%d entities, sorted: %v", len(entities), slices.IsSorted(entities))
	}
	for _, e := range entities {
		name, _, _ := strings.Cut(e, " ")
		ref := "&" + name + ";"
		if got, want := unescapeHTML(ref), html.UnescapeString(ref); got != want || got == ref {
			t.Errorf("unescapeHTML(%q) = %q, want %q", ref, got, want)
		}
	}
	for _, src := range []string{
		"", "&", "&&", "&;", "&x", "&amp", "&amp;amp;", "a &lt b", "&copy 2", "&nbsp", "&hellip ", "&#65;", "&#x41;", "&#X41;",
		"&#65", "&#65x", "&#;", "&#", "&#128;", "&#150;", "&#0;", "&#xd800;", "&#x110000;", "&#99999999999999;", "&nosuch;", "&mdash;&ndash;",
		"&euro;5", "AT&T; R&D", "&eacute;t&eacute", "&\u00a0;",
	} {
		if got, want := unescapeHTML(src), html.UnescapeString(src); got != want {
			t.Errorf("unescapeHTML(%q) = %q, want %q", src, got, want)
		}
	}
	for _, src := range []string{"&copy2", "?a=1&copy=2", "&#x;", "&<;", "&|;", "&&;", "& ;", "& nbsp ;", "&é;"} {
		if got := unescapeHTML(src); got != src {
			t.Errorf("unescapeHTML(%q) = %q, want it as it is", src, got)
		}
	}
}

func TestAttr(t *testing.T) {
	tests := []struct{ attrs, name, want string }{
		{` href=x`, "href", "x"}, {` HREF = "x y" `, "href", "x y"}, {` a='1' href='2'`, "href", "2"}, {` href`, "href", ""},
		{` href= `, "href", ""}, {` hrefx=1 href=2`, "href", "2"}, {`/href=x/`, "href", "x/"}, {` a="href=1" href=2`, "href", "2"},
		{` href="x`, "href", `"x`}, {` a==b href=c`, "href", "c"}, {` href=1 href=2`, "href", "1"}, {"\fhref\n=\r\"x\"", "href", "x"}, {` = href=x`, "href", "x"},
	}
	for _, tt := range tests {
		if got := attr(tt.attrs, tt.name); got != tt.want {
			t.Errorf("attr(%q, %q) = %q, want %q", tt.attrs, tt.name, got, tt.want)
		}
	}
}

func FuzzHTMLText(f *testing.F) {
	for _, s := range []string{"<p>a<pre>\nb<a href=x>c", "<table><tr><td>&amp;<td>", "<ol start=3><li><code>x</code>", "<!--><svg/><script>", "<base href=//x><a href='y'>"} {
		f.Add(s, 100)
	}
	f.Fuzz(func(t *testing.T, src string, max int) {
		max = max & 0xffff
		text, more := htmlText(src, &url.URL{Scheme: "http", Host: "h", Path: "/"}, max)
		if len(text) > max {
			t.Fatalf("%d bytes of text, the limit is %d", len(text), max)
		}
		if utf8.ValidString(src) && !utf8.ValidString(text) {
			t.Fatalf("%q is not UTF-8", text)
		}
		if _, after := htmlText(src, nil, 1<<20); after && len(src) < 1000 {
			t.Fatalf("a page of %d bytes has more than a MiB of text, first %v", len(src), more)
		}
	})
}
