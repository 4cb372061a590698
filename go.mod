module cluade

go 1.26.0

require (
	github.com/rogpeppe/go-internal v1.16.0
	github.com/valyala/fastjson v1.6.10
	golang.org/x/crypto v0.59.0
	golang.org/x/sys v0.50.0
	golang.org/x/term v0.48.0
)

require golang.org/x/tools v0.26.0 // indirect
