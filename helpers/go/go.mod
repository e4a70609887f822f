module mockgateway

go 1.22
