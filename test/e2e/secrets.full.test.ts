/** A run through every class of failure leaves no secret anywhere but in the files that are made for it. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { run } from "../core/cli/command-runner.ts";
import { cut, refuse } from "../openai-server/answers.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import {
  answered,
  answers,
  openChannel,
  openPlatform,
  people,
  postHook,
  type Running,
  startGatewayProcess,
  stop,
  takenOver,
  withBasics,
  writeConfig,
} from "./room.ts";

const secrets = {
  bot: "4242:e2e-bot-token-AbCdEf",
  wrongBot: "999:SeCrEt-wrong-bot-token",
  hook: "SeCrEt-hook-token-0123456789",
  gateway: "SeCrEt-gateway-token-/+ abc",
  apiKey: "SeCrEt-api-key-sk-123456",
  header: "SeCrEt-provider-header",
  nowhereBot: "5001:SeCrEt-nowhere-bot-token",
  refusedBot: "5002:SeCrEt-refused-bot-token",
  tornBot: "5003:SeCrEt-torn-bot-token",
  silentBot: "5004:SeCrEt-silent-bot-token",
  movedBot: "5005:SeCrEt-moved-bot-token",
  junkBot: "5006:SeCrEt-junk-bot-token",
};

/** Every file of the state directory, also what is inside the database and its log. */
function files(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile());
}

function leaks(text: string): readonly string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString("base64"),
    ].some((form) => text.includes(form))
      ? [name]
      : [],
  );
}

async function everyAnswer({ url, home, file }: Running): Promise<string> {
  const json = { "content-type": "application/json" };
  const open = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, init).then(async (answer) => `${JSON.stringify([...answer.headers])}${await answer.text()}`);
  const asked = await Promise.all([
    ...["/healthz", "/readyz", "/metrics", "/gateway/describe", "/nowhere", `/hooks/wake?token=${secrets.hook}`].map(
      (path) => open(path),
    ),
    ...["/gateway/describe", "/readyz", "/metrics"].map((path) =>
      open(path, { headers: { authorization: `Bearer ${secrets.gateway}` } }),
    ),
    open("/hooks/wake", {
      method: "POST",
      body: '{"text":"ring","mode":"next-heartbeat"}',
      headers: { ...json, authorization: `Bearer ${secrets.hook}`, "idempotency-key": "delivery-1" },
    }),
    open("/hooks/wake", { method: "POST", body: "{", headers: { ...json, authorization: `Bearer ${secrets.hook}` } }),
    open("/hooks/agent", {
      method: "POST",
      body: '{"message":7}',
      headers: { ...json, authorization: `Bearer ${secrets.hook}` },
    }),
    open("/hooks/nothing", {
      method: "POST",
      body: "{}",
      headers: { ...json, authorization: `Bearer ${secrets.hook}` },
    }),
    open("/hooks/wake", { method: "POST", body: "{}", headers: { ...json, authorization: `Bearer ${secrets.hook}x` } }),
    open(`/hooks/wake?token=${secrets.hook}`, { method: "POST", body: "{}", headers: json }),
  ]);
  const commands = [
    ["config", "get"],
    ["config", "get", "--json"],
    ["config", "get", "hooks"],
    ["config", "validate"],
    ["status", "--json"],
    ["why", "last"],
    ["why", "last", "--json"],
    ["logs"],
    ["plugins", "list", "--json"],
  ];
  for (const command of commands) {
    const { out, err } = await run([...command, "--config", file], { home });
    asked.push(out, err);
  }
  return asked.join("\n");
}

/** Answers no call of a bot as a platform does; what it says repeats the address, and with it the token. */
async function openStranger(): Promise<string> {
  const server = createServer((request, response) => {
    const { url = "" } = request;
    if (url.startsWith("/silent")) return;
    if (url.startsWith("/moved")) response.writeHead(302, { location: `/junk${url}` }).end(url);
    else response.end(`<h1>${url}</h1>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A bot for each way in which the platform may be out of reach, and what is said of it. */
async function openUnreachable(): Promise<{
  readonly accounts: object;
  readonly said: Readonly<Record<string, string>>;
}> {
  const stranger = await openStranger();
  const account = (botToken: string, apiRoot: string) => ({ botToken, apiRoot, timeoutSeconds: 1 });
  return {
    accounts: {
      nowhere: account(secrets.nowhereBot, "http://nowhere.invalid"),
      refused: account(secrets.refusedBot, "http://127.0.0.1:1"),
      torn: account(secrets.tornBot, `https://${stranger}`),
      silent: account(secrets.silentBot, `http://${stranger}/silent`),
      moved: account(secrets.movedBot, `http://${stranger}/moved`),
      junk: account(secrets.junkBot, `http://${stranger}/junk`),
    },
    said: {
      nowhere: "no answer .(?:ENOTFOUND|EAI_AGAIN)",
      refused: "no answer .ECONNREFUSED",
      torn: "no answer .ERR_SSL",
      silent: "no answer .UND_ERR_HEADERS_TIMEOUT",
      moved: "302 the answer is not the platform's",
      junk: "200 the answer is not the platform's",
    },
  };
}

test("logs, answers, commands, prompts, state and chats contain no token, even through all kinds of failures", {
  timeout: 90_000,
}, async () => {
  const platform = await openPlatform();
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  // A model server that says back what it was sent, as some do in their errors.
  const echoing = createServer((request, response) => {
    response.writeHead(400, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ error: { message: `bad request: ${JSON.stringify(request.headers)}`, type: "invalid" } }),
    );
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void echoing.close());
  const [ada = 0] = people(platform);
  const config = (channel: object, baseUrl: string, level = "trace") =>
    withBasics({
      log: { level },
      gateway: { port: 0, drainSeconds: 5, auth: { token: secrets.gateway } },
      hooks: { enabled: true, token: secrets.hook },
      models: {
        providers: {
          local: { api: "openai-compatible", baseUrl, apiKey: secrets.apiKey, headers: { "x-key": secrets.header } },
        },
      },
      agents: { defaults: { model: "local/test-model" } },
      channels: { botchat: openChannel(platform, channel) },
    });
  const gateway = await startGatewayProcess(config({}, model.url));
  const say = async (text: string, answer: string | RegExp) => {
    platform.act.say(ada, ada, text);
    await answered(platform, ada, answer, 20_000);
  };
  await say("first", "first");

  for (const fault of [
    {
      method: "getUpdates",
      kind: "refuse",
      status: 409,
      description: "Conflict: terminated by other getUpdates request",
    },
    { method: "getUpdates", kind: "flood", retryAfter: 1 },
    { method: "getUpdates", kind: "reset-before" },
    { method: "getUpdates", kind: "garbage" },
    { method: "getUpdates", kind: "status", status: 502 },
    { method: "sendMessage", kind: "reset-after" },
    { method: "sendMessage", kind: "refuse", status: 400, description: `Bad Request: ${secrets.bot}` },
  ] as const)
    platform.faults.add({ times: 1, ...fault });
  await say("through the faults", /through the faults|could not/);
  await expect.poll(() => platform.faults.list()).toEqual([]);
  const before = answers(platform, ada).length;
  model.script(
    refuse(401, `Incorrect API key provided: ${secrets.apiKey}`),
    cut("half an ans"),
    refuse(429, `slow down, ${secrets.apiKey}`),
  );
  for (const text of ["unauthorized", "torn", "busy"]) platform.act.say(ada, ada, text);
  await expect.poll(() => answers(platform, ada).length).toBeGreaterThanOrEqual(before + 3);

  const { port } = echoing.address() as AddressInfo;
  writeConfig(gateway.file, config({}, `http://127.0.0.1:${port}/v1`));
  await gateway.until(takenOver(1));
  const apologies = () => answers(platform, ada).filter((text) => text.includes("Sorry, ")).length;
  const sorry = apologies();
  platform.act.say(ada, ada, "to the echoing server");
  await expect.poll(apologies).toBeGreaterThan(sorry);
  writeConfig(gateway.file, config({}, "http://127.0.0.1:1/v1"));
  await gateway.until(takenOver(2));
  platform.act.say(ada, ada, "to nobody");
  await expect.poll(apologies).toBeGreaterThan(sorry + 1);

  expect((await postHook(gateway.url, "agent", { message: "hello", deliver: false }, secrets.hook)).status).toBe(202);
  let seen = await everyAnswer(gateway);
  writeConfig(gateway.file, config({ botToken: secrets.wrongBot }, model.url));
  await gateway.until(/rejects the bot token/);
  const { accounts, said } = await openUnreachable();
  writeConfig(gateway.file, config({ botToken: undefined, accounts }, model.url));
  for (const [account, why] of Object.entries(said))
    await gateway.until(new RegExp(`"account":"${account}".*getMe: ${why}`));
  platform.faults.add({
    method: "getMe",
    kind: "refuse",
    status: 404,
    description: `Not Found: ${secrets.bot}`,
    times: 1,
  });
  writeConfig(gateway.file, config({ textChunkLimit: 3_000 }, model.url));
  await gateway.until(/does not know the bot/);
  seen += await everyAnswer(gateway);
  await stop(gateway);
  const { out, err } = await gateway.finished;
  expect(leaks(out + err), "printed").toEqual([]);
  expect(leaks(seen), "answers and commands").toEqual([]);
  expect(model.requests.length).toBeGreaterThan(3);
  expect(leaks(JSON.stringify(model.requests.map(({ path, body }) => ({ path, body })))), "prompts").toEqual([]);
  expect(leaks(answers(platform, ada).join("\n")), "chats").toEqual([]);
  const found = files(gateway.state).flatMap((file) =>
    leaks(readFileSync(file, "latin1")).map((name) => `${relative(gateway.state, file)}: ${name}`),
  );
  expect(found, "state").toEqual(["gateway-token: gateway"]);
});
