module cluade

go 1.26
