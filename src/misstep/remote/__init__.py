"""Policies over the network: the gRPC protocol of the authors' tools, as client and as server."""
