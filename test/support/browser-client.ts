/** A client that sends what a browser sends: the cookie, and the headers that a page cannot choose. */
import { request as send } from "node:http";

export interface BrowserAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  readonly json: any;
}

export interface BrowserRequest {
  readonly method?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export function askAs(url: string, path: string, { method, body, headers = {} }: BrowserRequest = {}) {
  const used = method ?? (body === undefined ? "GET" : "POST");
  return new Promise<BrowserAnswer>((resolve, reject) => {
    const request = send(new URL(path, url), { method: used, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        let json: unknown;
        try {
          json = JSON.parse(text);
        } catch {}
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
      });
    });
    request.on("error", reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** What the console's page sends with each request. */
export const ofPage = { "sec-fetch-site": "same-origin", "x-console": "1", "content-type": "application/json" };

export interface SignedIn {
  readonly cookie: string;
  ask(path: string, options?: BrowserRequest): Promise<BrowserAnswer>;
}

/** Signs in by a link, as `service console` makes it. */
export async function signIn(url: string, token: string, role = "admin"): Promise<SignedIn> {
  const link = await askAs(url, "/gateway/v1/links", {
    body: { role },
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  });
  const begun = await askAs(url, "/gateway/v1/session", { body: { code: link.json.code }, headers: ofPage });
  const [cookie = ""] = String(begun.headers["set-cookie"]).split(";");
  return {
    cookie,
    ask: (path, options = {}) => askAs(url, path, { ...options, headers: { cookie, ...ofPage, ...options.headers } }),
  };
}
