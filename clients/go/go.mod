module github.com/dwar-auth/dwar-go

go 1.23.0
