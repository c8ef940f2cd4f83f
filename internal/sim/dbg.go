package sim
var dbg = func(string, ...any){}
var strict = false
