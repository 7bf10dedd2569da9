//! Signs and verifies access tokens with josekit; publishes the public keys.
