/** What people read who open the gateway's address in a browser. Programs get the answer of an unused address. */
import { hash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { product, programCommand } from "../../contract/index.ts";
import type { RequireAccess } from "../access.ts";
import { HttpProblem } from "../problem.ts";
import { sendProblem } from "../send.ts";

/** A page of a plugin for people. */
export interface Page {
  readonly path: string;
  readonly title: string;
}

const style =
  ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:34em;margin:12vh auto;" +
  "padding:0 1.2em}a{color:LinkText}";

export function registerFrontPage(
  app: FastifyInstance,
  {
    ready,
    pages,
    requireAccess,
  }: { readonly ready: () => boolean; readonly pages: () => readonly Page[]; readonly requireAccess: RequireAccess },
): void {
  app.get("/", async (request, reply) => {
    const problem = await requireAccess(request.raw, "public");
    if (problem !== undefined || !/\btext\/html\b/.test(request.headers.accept ?? "")) {
      sendProblem(reply, problem ?? new HttpProblem("not_found", "There is nothing at this address."));
      return reply;
    }
    return reply
      .headers({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "content-security-policy":
          `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; base-uri 'none'; ` +
          "form-action 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
      })
      .send(pageOf(ready(), pages()));
  });
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** It is public: it says nothing that `/readyz` does not say. */
function pageOf(ready: boolean, pages: readonly Page[]): string {
  return [
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${product.name}</title>`,
    `<meta name="viewport" content="width=device-width"><style>${style}</style>`,
    `<h1>${product.name}</h1>`,
    "<p>This gateway connects webhooks and chat platforms to an AI agent.</p>",
    `<p>It is ${ready ? "ready" : "not ready yet"}.</p>`,
    pages.length === 0 ? "<p>No page for people is switched on.</p>" : "<ul>",
    ...pages.map(({ path, title }) => `<li><a href="${escaped(path)}">${escaped(title)}</a></li>`),
    pages.length === 0 ? "" : "</ul>",
    `<p>On its machine, <code>${programCommand} status</code> shows what runs, and <code>${programCommand}`,
    "console</code> opens the console. Programs find its answers at <code>/readyz</code>.</p></html>",
  ].join("\n");
}
