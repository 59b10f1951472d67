/**
 * An OAuth token endpoint that gives out access tokens for refresh tokens, and may replace those, as Microsoft does.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface TokenServer {
  readonly url: string;
  /** The refresh token that is accepted from now on; the one before is not. */
  grant(refreshToken: string): void;
  /** True: each use of a refresh token ends it and gives out the next one. */
  rotate(whether: boolean): void;
  /** How long access tokens live, in seconds. */
  lives(seconds: number): void;
  /** Every form that came, as it was sent. */
  readonly asked: readonly URLSearchParams[];
  close(): Promise<void>;
}

export async function startTokenServer({
  issue,
}: {
  readonly issue: (accessToken: string) => void;
}): Promise<TokenServer> {
  const asked: URLSearchParams[] = [];
  let granted = "refresh-token-0";
  let rotating = false;
  let seconds = 3_600;
  let issued = 0;
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => {
      text += piece;
    });
    request.on("end", () => {
      const form = new URLSearchParams(text);
      asked.push(form);
      const isGranted = form.get("refresh_token") === granted;
      if (isGranted && rotating) granted = `${granted}+`;
      issued += 1;
      const token = `access-token-${issued}`;
      if (isGranted) issue(token);
      const answer = {
        access_token: token,
        expires_in: seconds,
        token_type: "Bearer",
        ...(rotating ? { refresh_token: granted } : {}),
      };
      response.writeHead(isGranted ? 200 : 400, { "content-type": "application/json" });
      response.end(
        JSON.stringify(isGranted ? answer : { error: "invalid_grant", error_description: `${text} is not valid` }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    grant(refreshToken) {
      granted = refreshToken;
    },
    rotate(whether) {
      rotating = whether;
    },
    lives(life) {
      seconds = life;
    },
    asked,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
