module example.com/dwar-net-http

go 1.23.0

require github.com/dwar-auth/dwar-go v0.0.0

replace github.com/dwar-auth/dwar-go => ../../go
