module example.com/test/ytt-peer

go 1.26.0

require carvel.dev/ytt v0.49.0

require (
	github.com/BurntSushi/toml v1.2.1 // indirect
	github.com/hashicorp/go-version v1.6.0 // indirect
	github.com/k14s/starlark-go v0.0.0-20200720175618-3a5c849cc368 // indirect
)
