/** The example of Matrix as it is printed, and what the operator reads of an account. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";
import { root } from "../house/sources.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { startHomeserver } from "../support/matrix/homeserver.ts";
import { createPerson, shownTexts } from "../support/matrix/person.ts";

const page = readFileSync(join(root, "examples", "matrix", "README.md"), "utf8");

test("the example runs as printed: a token by curl, a code in private, an invitation to a room", async () => {
  const server = await startHomeserver({ host: "example.org" });
  onTestFinished(() => server.close());
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  const { world } = server;
  const bot = world.addUser("breadbot");
  const ada = createPerson(world, world.addUser("ada", { name: "Ada" }).id);
  server.wellKnown = { "m.homeserver": { base_url: server.url } };

  const [, login = ""] = /<<'END'\n([\s\S]+?)\n\s*END/.exec(page) ?? [];
  const answer = await fetch(`${server.url}/_matrix/client/v3/login`, {
    method: "POST",
    body: login.replace('"..."', JSON.stringify(bot.password)),
  });
  const { access_token: token } = (await answer.json()) as { readonly access_token: string };

  const home = temporaryHome();
  const folder = join(home, "bot");
  mkdirSync(folder);
  const group = world.createRoom(ada.id, { name: "Bakery", invite: [bot.id] });
  const text = readFileSync(join(root, "examples", "matrix", "config.jsonc"), "utf8")
    .replace("../../plugins/matrix", join(root, "plugins", "matrix"))
    .replace('"homeserver": "example.org"', `"homeserver": "${server.url}"`)
    .replace("http://127.0.0.1:11434/v1", model.url)
    .replace("{", '{ "gateway": { "port": 0 },');
  const config = join(folder, "config.jsonc");
  writeFileSync(config, text);
  writeFileSync(join(folder, "matrix-token"), `${token}\n`, { mode: 0o600 });
  const service = async (...args: readonly string[]) => (await run([...args, "--config", config], { home })).out;
  expect(await service("config", "validate")).toContain("is valid");
  const gateway = startGateway(["gateway", "--config", config], { home });
  await gateway.until(/ready at/);

  const direct = world.createRoom(ada.id, { invite: [bot.id], isDirect: true });
  ada.say(direct, "What is bread?");
  const texts = (room = direct) => shownTexts(room, bot.id);
  await expect.poll(() => texts().join()).toMatch(/Pairing code: \w+/);
  const [, code = ""] = /Pairing code: (\w+)/.exec(texts().join()) ?? [];
  expect(await service("pairing", "approve", "matrix", code)).toContain("Ada (@ada:example.org) may write to matrix");
  await expect.poll(() => texts().at(-1)).toMatch(/What is bread/);

  // The room is not listed yet: the operator reads its id.
  expect(world.membershipOf(group, bot.id)).toBe("invite");
  const status = await service("channels", "status", "--probe");
  expect(status).toContain("connected");
  expect(status).toContain(group.id);
  expect(await service("events", "list", "--json")).toContain("invitation_refused");
  writeFileSync(config, text.replace("!AbCdEfGhIjKlMnOpQr:example.org", group.id));
  await gateway.until(/the configuration was reloaded/);
  // The current poll of the homeserver ends with the next message.
  ada.say(direct, "!whoami");
  await expect.poll(() => world.membershipOf(group, bot.id)).toBe("join");
  ada.say(group, "breadbot: And what is cake?");
  await expect.poll(() => texts(group).join()).toMatch(/what is cake/);

  bot.keys.push("ELEMENT");
  const secret = world.createRoom(ada.id, { invite: [bot.id], isDirect: true, encrypted: true });
  const cipher = { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "AwgAEnA" };
  world.append(secret, { type: "m.room.encrypted", sender: ada.id, content: cipher });
  await expect.poll(() => texts(secret)).toEqual([expect.stringContaining("cannot read encrypted messages")]);
  await expect.poll(() => service("why", "last")).toContain(`@ada:example.org wrote in ${secret.id}.`);
  const doctor = await service("doctor");
  expect(doctor).toContain("ELEMENT");
  expect(doctor).toContain(secret.id);
  expect(JSON.stringify([status, doctor])).not.toContain(token);
  expect(server.tokensInQueries()).toBe(0);
}, 120_000);
