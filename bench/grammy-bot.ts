/**
 * The reference for the channel: an echo bot on bare grammY. `node bench/grammy-bot.ts API_ROOT TOKEN
 * start|bare|runner`.
 *
 * `start` is `bot.start()`. `bare` is the runner without `sequentialize`, so it keeps no order in a chat. Both use the
 * default client. `runner` is the runner with `sequentialize` for each chat, over undici.
 */
import { run, sequentialize } from "@grammyjs/runner";
import { Bot } from "grammy";
import { Pool } from "undici";

const [apiRoot = "", token = "", mode = "start"] = process.argv.slice(2);

/** grammY passes its own kind of signal, which undici's `fetch` does not accept. */
function undiciFetch(root: string): typeof globalThis.fetch {
  const pool = new Pool(root, { connections: 64 });
  const bridge = async (address: string, init: { readonly body: string; readonly headers: Record<string, string> }) => {
    const { connection: _hopByHop, ...headers } = init.headers;
    const { body } = await pool.request({ path: new URL(address).pathname, method: "POST", headers, body: init.body });
    const text = await body.text();
    return { json: () => JSON.parse(text) };
  };
  return bridge as unknown as typeof globalThis.fetch;
}

const client = { apiRoot, ...(mode === "runner" ? { fetch: undiciFetch(apiRoot) as never } : {}) };
const bot = new Bot(token, { client });
if (mode === "runner") bot.use(sequentialize((context) => String(context.chat?.id ?? "")));
bot.on("message:text", async (context) => {
  await context.reply(context.message.text);
});
await bot.init();
if (mode === "start") void bot.start();
else run(bot);
console.log("ready");
