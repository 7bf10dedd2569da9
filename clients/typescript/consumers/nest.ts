// A backend with Nest: who is logged in, and the endpoints of the login contract.
import "reflect-metadata";
import { Catch, Controller, Get, Inject, Module, Req, Res, UnauthorizedException } from "@nestjs/common";
import type { ArgumentsHost, ExceptionFilter, INestApplication } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { Dwar, DwarError, TokenVerifier } from "dwar-client";
import { createLogin, type ExpressLogin } from "dwar-client/express";
import type { Request, Response } from "express";

const LOGIN = Symbol("login");

@Controller()
class MeController {
  constructor(@Inject(LOGIN) private readonly login: ExpressLogin) {}

  @Get("me")
  async me(@Req() request: Request, @Res({ passthrough: true }) response: Response) {
    const claims = await this.login.authenticate(request, response);
    if (!claims) throw new UnauthorizedException();
    return { id: claims.sub };
  }
}

/** The caller cannot be identified now, which is not a 401. */
@Catch(DwarError)
class DwarFilter implements ExceptionFilter<DwarError> {
  catch(error: DwarError, host: ArgumentsHost) {
    host.switchToHttp().getResponse<Response>().status(503).json({ code: error.code });
  }
}

export async function start(url: string, apiKey: string, audience: string): Promise<INestApplication> {
  const login = createLogin<Request>({
    dwar: new Dwar({ url, apiKey }),
    verifier: new TokenVerifier({ url, audience, mode: "test" }),
    secret: "for this test alone, 32 characters or more",
    origins: ["https://shop.example"],
    clientAddress: (request) => request.ip,
  });
  @Module({ controllers: [MeController], providers: [{ provide: LOGIN, useValue: login }] })
  class AppModule {}
  const app = await NestFactory.create(AppModule, { logger: false });
  app.use("/login", login.router);
  app.useGlobalFilters(new DwarFilter());
  await app.listen(0, "127.0.0.1");
  return app;
}
