module example.com/test/jsonpath-peer

go 1.25.0

require k8s.io/client-go v0.25.6
