"""What requests and answers look like; OpenAPI is made from these."""
