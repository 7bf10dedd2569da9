package com.example;

import io.quarkus.security.Authenticated;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import org.eclipse.microprofile.jwt.JsonWebToken;

/** Says who asks. */
@Path("/")
@Authenticated
public class Shop {
    @Inject
    JsonWebToken token;

    @GET
    public String person() {
        return token.getSubject();
    }
}
