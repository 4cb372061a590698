package httpc

import (
	"strconv"
	"strings"
)

// StatusText is what a status of 400 or more means (RFC 9110, section 15), ""
// for one that is not known.
func StatusText(code int) string {
	const known = "\n400 Bad Request\n401 Unauthorized\n402 Payment Required\n403 Forbidden\n404 Not Found\n405 Method Not Allowed\n" +
		"406 Not Acceptable\n407 Proxy Authentication Required\n408 Request Timeout\n409 Conflict\n410 Gone\n411 Length Required\n" +
		"412 Precondition Failed\n413 Request Entity Too Large\n414 Request URI Too Long\n415 Unsupported Media Type\n" +
		"422 Unprocessable Entity\n425 Too Early\n426 Upgrade Required\n428 Precondition Required\n429 Too Many Requests\n" +
		"431 Request Header Fields Too Large\n451 Unavailable For Legal Reasons\n500 Internal Server Error\n501 Not Implemented\n" +
		"502 Bad Gateway\n503 Service Unavailable\n504 Gateway Timeout\n505 HTTP Version Not Supported\n507 Insufficient Storage\n" +
		"511 Network Authentication Required\n"
	_, rest, _ := strings.Cut(known, "\n"+strconv.Itoa(code)+" ")
	text, _, _ := strings.Cut(rest, "\n")
	return text
}
