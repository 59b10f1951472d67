/**
 * The page for devices with a browser: it sends the code, waits, and shows the token. It loads nothing from other
 * sites.
 */
import { createHash } from "node:crypto";

const style = `
  body { font: 16px/1.5 system-ui, sans-serif; color-scheme: light dark }
  body { max-width: 26rem; margin: 3rem auto; padding: 0 1rem }
  label, input, button, output { display: block; width: 100%; box-sizing: border-box; font: inherit }
  input, button { padding: .5rem; margin: .2rem 0 1rem }
  output { overflow-wrap: anywhere; font-family: ui-monospace, monospace }
`;

const script = `
  const form = document.querySelector("form");
  const state = document.querySelector("#state");
  const result = document.querySelector("output");
  const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      const { code, name } = Object.fromEntries(new FormData(form));
      const headers = { "content-type": "application/json" };
      const asked = await call("", { method: "POST", headers, body: JSON.stringify({ code, name }) });
      state.textContent = "Asked as " + asked.id + ". The owner approves it in the chat: /pair approve " + asked.id;
      for (;;) {
        await pause(asked.pollSeconds);
        const headers = { authorization: "Bearer " + asked.secret };
        const answer = await call("/" + asked.id, { headers }).catch((error) => {
          // A network that is away for a moment must not cost the request.
          if (error.status === 404) throw error;
        });
        if (answer?.status !== "approved") continue;
        state.textContent = "This device is paired. Its token, shown once:";
        result.textContent = answer.token;
        return;
      }
    } catch (error) {
      state.textContent = error.message;
      button.disabled = false;
    }
  });
  async function call(path, options) {
    // The address of the page, because a proxy may serve the gateway below a path.
    const response = await fetch(location.pathname.replace(/\\/$/, "") + path, options);
    const body = await response.json();
    if (!response.ok) throw Object.assign(new Error(body.error), { status: response.status });
    return body;
  }
`;

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pair a device</title>
<style>${style}</style>
<h1>Pair a device</h1>
<form>
  <label for="code">Setup code, as the bot said it</label>
  <input id="code" name="code" required maxlength="64"
    autocomplete="off" autocapitalize="characters" spellcheck="false">
  <label for="name">Name of this device</label>
  <input id="name" name="name" required maxlength="64" autocomplete="off">
  <button>Ask</button>
</form>
<p id="state" role="status"></p>
<output></output>
<script>${script}</script>
</html>
`;

export const pageHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy":
    `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; ` +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors " +
    "'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};
