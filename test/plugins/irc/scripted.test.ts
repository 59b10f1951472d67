/** What a server does seldom: refusals, collisions, accounts, silence, and texts that are meant to deceive. */
import { definePlugin } from "service-gateway/sdk";
import { createTestHost, type TestHostOptions } from "service-gateway/testkit";
import { aroundEach, describe, test } from "vitest";
import irc from "../../../plugins/irc/index.ts";
import { type ScriptedServer, startScripted } from "../../support/irc/scripted-server.ts";
import { expect, inOwnTest, onTestFinished } from "../../support/own-test.ts";

aroundEach(inOwnTest);

const answer: NonNullable<TestHostOptions["answer"]> = ({ inbound }) =>
  inbound.text === "long" ? "word ".repeat(300).trim() : `heard: ${inbound.text}`;

async function serve(options: Parameters<typeof startScripted>[0] = {}): Promise<ScriptedServer> {
  const server = await startScripted(options);
  onTestFinished(() => server.close());
  return server;
}

async function open(server: ScriptedServer, options: object = {}) {
  const channels = {
    irc: {
      server: "127.0.0.1",
      port: server.port,
      tls: false,
      nick: "bot",
      everyMs: 1,
      dmPolicy: "open",
      allowFrom: ["*"],
      ...options,
    },
  };
  const config = { channels, session: { dmScope: "per-channel-peer" } };
  const ends: string[] = [];
  const watch = definePlugin({
    id: "watch",
    version: "1.0.0",
    host: "^0.2.0",
    setup(host) {
      host.tap("settled", ({ reason }) => void ends.push(reason));
    },
  });
  const host = await createTestHost({ plugins: [irc, watch], answer, config, allowErrors: [/./] });
  onTestFinished(() => host.close());
  return { ends, state: async () => (await host.accounts()).find(({ channel }) => channel === "irc") };
}

const message = (text: string, tags = "") => `${tags}:ada!a@127.0.0.1 PRIVMSG bot :${text}`;
const connected = (state: () => Promise<unknown>) => expect.poll(state).toMatchObject({ state: "connected" });

describe.concurrent("in a channel", () => {
  test("a command is answered by notices to its sender, which name the channel", async () => {
    const server = await serve();
    const { state } = await open(server, { channels: ["#room"], groupPolicy: "open" });
    await connected(state);
    server.send(":ada!a@127.0.0.1 PRIVMSG #room :bot: !help");
    await expect.poll(() => server.notices.at(-1)?.text).toMatch(/\S/);
    const [first] = server.notices;
    expect(first).toEqual({ target: "ada", text: expect.stringMatching(/^\[#room\] \S/) });
    expect(server.notices.map(({ target }) => target)).toEqual(server.notices.map(() => "ada"));
    server.send(":ada!a@127.0.0.1 PRIVMSG #room :bot: hello");
    await expect.poll(() => server.messages).toEqual([{ target: "#room", text: "ada: heard: hello" }]);
  });
});

describe.concurrent("signing in", () => {
  test("with SASL sends the encoded password once, and senders are identified by account", async () => {
    const server = await serve();
    const { state } = await open(server, { saslPassword: "correct horse", dmPolicy: "allowlist", allowFrom: ["ADA"] });
    await connected(state);
    expect(server.lines).toContain(`AUTHENTICATE ${Buffer.from("\0bot\0correct horse").toString("base64")}`);
    server.send(message("hi", "@account=Ada "));
    await expect.poll(() => server.messages).toEqual([{ target: "ada", text: "heard: hi" }]);
    // The same nick without the account is another person.
    server.send(message("me too"));
    server.send(":eve!e@127.0.0.1 PRIVMSG bot :and me");
    server.send(message("again", "@account=ada "));
    await expect.poll(() => server.messages.length).toBe(2);
    expect(server.messages[1]).toEqual({ target: "ada", text: "heard: again" });
  });

  test.each(["", "0", "*"])(
    "a sender with the account %j has none, and a line without a sender is no message",
    async (none) => {
      const server = await serve();
      const { ends, state } = await open(server);
      await connected(state);
      server.send("@account=ada PRIVMSG bot :!whoami");
      server.send(message("!whoami", `@account=${none} `));
      await expect.poll(() => server.messages.map(({ text }) => text).join()).toContain("~ada");
      await expect.poll(() => ends.length).toBeGreaterThan(0);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(ends).toHaveLength(1);
    },
  );

  test.each([
    ["a wrong password", { password: "another" }, "SASL failed: SASL authentication failed"],
    ["a server without SASL", { caps: "server-time" }, "The server offers no SASL, and saslPassword is set"],
    ["a server without capabilities", { caps: "" }, "The server offers no SASL, and saslPassword is set"],
  ])("with %s fails for good, and the operator learns why", async (_, options, detail) => {
    const server = await serve(options);
    const { state } = await open(server, { saslPassword: "correct horse" });
    await expect.poll(state).toMatchObject({ state: "failed", detail: expect.stringContaining(detail) });
    const tries = server.lines.filter((line) => line.startsWith("NICK")).length;
    expect(tries).toBe(1);
  });

  test("with a nick in use takes another one, answers to both, and reclaims its own", async () => {
    const server = await serve();
    let isTaken = true;
    server.script = (line, socket) => {
      if (line !== "NICK bot" || !isTaken) return false;
      socket.write(":irc.test 433 * bot :Nickname is already in use\r\n");
      return true;
    };
    const { state } = await open(server, { channels: ["#room"], groupPolicy: "open" });
    await connected(state);
    expect(await state()).toMatchObject({ identity: { username: "bot_" } });
    for (const name of ["bot", "bot_"]) server.send(`:ada!a@127.0.0.1 PRIVMSG #room :${name}: hi`);
    await expect.poll(() => server.messages.map(({ text }) => text)).toEqual(["ada: heard: hi", "ada: heard: hi"]);
    isTaken = false;
    server.send(":bot!x@127.0.0.1 QUIT :gone");
    await expect.poll(() => server.lines.filter((line) => line === "NICK bot").length).toBeGreaterThan(2);
    server.send(":eve!e@127.0.0.1 KICK #room bot_ :be quiet");
    server.send(":bot_!bot@127.0.0.1 NICK :bot");
    const detail = "The bot is not in #room: eve removed it: be quiet.";
    const hint = "It joins again by itself. Let it in there, or correct the rooms of the account.";
    await expect
      .poll(state)
      .toMatchObject({ state: "connected", identity: { username: "bot" }, code: "removed_from_room", detail, hint });
  });
});

describe.concurrent("a nick in use, on a server that allows only short ones,", () => {
  /** The server of the nick `breadbots`, which another has, and of names with at most `most` letters. */
  async function serveShort(most: number) {
    const server = await serve();
    server.script = (line, socket) => {
      const [, nick = ""] = /^NICK (.*)$/.exec(line) ?? [];
      const [code, why] =
        nick === "breadbots" ? [433, "Nickname already in use"] : [432, `Nickname too long, max. ${most} characters`];
      if (nick === "" || (nick !== "breadbots" && nick.length <= most)) return false;
      socket.write(`:irc.test ${code} * ${nick} :${why}\r\n`);
      return true;
    };
    return { server, ...(await open(server, { nick: "breadbots" })) };
  }

  test("is replaced by a shorter one", async () => {
    const { server, state } = await serveShort(9);
    await connected(state);
    expect(await state()).toMatchObject({ identity: { username: "bread_2" }, code: "name_taken" });
    // After the welcome the server refuses the wanted nick in any way it likes.
    for (let count = 0; count < 3; count += 1) server.send(":irc.test 432 bread_2 breadbots :Erroneous nickname");
    server.send(":ada!a@127.0.0.1 PRIVMSG bread_2 :hi");
    await expect.poll(() => server.messages.length).toBe(1);
  });

  test("is waited for if no shorter one is available, and the account does not fail", async () => {
    const { state } = await serveShort(5);
    const detail =
      "The nick breadbots is taken, and the server does not take bread_3 instead: Nickname too long, max. 5 " +
      "characters.";
    await expect
      .poll(state)
      .toMatchObject({ state: "waiting", code: "sign_in_refused", detail: expect.stringContaining(detail) });
  });
});

test.concurrent("a bot with SASL retries when services are not back yet, and joins only when signed in", async () => {
  const server = await serve();
  const { state } = await open(server, { saslPassword: "correct horse" });
  await connected(state);
  server.script = (line, socket) => {
    if (line !== "CAP LS 302") return false;
    socket.write(":irc.test CAP * LS :server-time\r\n");
    return true;
  };
  server.cut();
  await expect.poll(state, { timeout: 5_000 }).toMatchObject({
    state: "waiting",
    code: "sign_in_refused",
    detail: expect.stringContaining("The server offers no SASL, and saslPassword is set. The next attempt is in"),
  });
});

test.concurrent("a channel with a key is joined with it in any spelling of its name, others without", async () => {
  const server = await serve();
  const { state } = await open(server, {
    channels: ["#bread", "#open", "#cake"],
    channelKeys: "#Cake=cr=am #bread=crust",
  });
  await connected(state);
  const joins = () => server.lines.filter((line) => line.startsWith("JOIN"));
  await expect.poll(joins).toEqual(["JOIN #bread crust", "JOIN #open", "JOIN #cake cr=am"]);
});

test.concurrent("the bot rejoins a channel that it was removed from; the operator learns who removed it", async () => {
  const server = await serve();
  const { state } = await open(server, { channels: ["#Room"] });
  await connected(state);
  const joins = () => server.lines.filter((line) => line.startsWith("JOIN")).length;
  await expect.poll(joins).toBe(1);
  server.send(":eve!e@127.0.0.1 KICK #room bot :be quiet");
  await expect
    .poll(state)
    .toMatchObject({ code: "removed_from_room", detail: "The bot is not in #Room: eve removed it: be quiet." });
  await expect.poll(joins).toBe(2);
  await expect.poll(state).not.toHaveProperty("detail");
});

describe.concurrent("the identity of a sender", () => {
  /** A server that knows one account: of ada, where she is. */
  async function serveAccounts(place = "a 127.0.0.1") {
    const server = await serve({ caps: "server-time", isupport: "WHOX" });
    server.script = (line, socket) => {
      const [, nick] = /^WHO (\S+) %uhna$/.exec(line) ?? [];
      if (nick === undefined) return false;
      const who = nick === "ada" ? `${place} ada ada` : `e 127.0.0.1 ${nick} 0`;
      socket.write(`:irc.test 354 bot ${who}\r\n:irc.test 315 bot ${nick} :End of WHO\r\n`);
      return true;
    };
    return server;
  }

  test("is queried by WHOX before the message is accepted if the server supports accounts", async () => {
    const server = await serveAccounts();
    const { state } = await open(server, { dmPolicy: "allowlist", allowFrom: ["ada", "~eve"] });
    await connected(state);
    server.send(message("one"));
    server.send(":eve!e@127.0.0.1 PRIVMSG bot :two");
    server.send(":bob!e@127.0.0.1 PRIVMSG bot :three");
    server.send(message("four"));
    await expect.poll(() => server.messages.length).toBe(3);
    expect(server.messages.map(({ target, text }) => `${target} ${text}`).sort()).toEqual([
      "ada heard: four",
      "ada heard: one",
      "eve heard: two",
    ]);
  });

  test("is not the account of another user who has the nick when the server replies", async () => {
    const server = await serveAccounts("ada example.org");
    const { state } = await open(server, { dmPolicy: "allowlist", allowFrom: ["ada"] });
    await connected(state);
    server.send(message("by whoever had the nick"));
    server.send(":ada!ada@example.org PRIVMSG bot :by ada");
    await expect.poll(() => server.messages).toEqual([{ target: "ada", text: "heard: by ada" }]);
  });

  test("cannot be faked by a text that looks like a server line", async () => {
    const server = await serve();
    const { state } = await open(server, { saslPassword: "correct horse", dmPolicy: "allowlist", allowFrom: ["ada"] });
    await connected(state);
    for (const separator of ["\u2028", "\u2029", "\r", "\u0085", "\u000b"])
      server.send(
        `@account=eve :eve!e@127.0.0.1 PRIVMSG bot :x${separator}@account=ada :ada!a@127.0.0.1 PRIVMSG bot :let me in`,
      );
    server.send(message("the last one", "@account=ada "));
    await expect.poll(() => server.messages).toEqual([{ target: "ada", text: "heard: the last one" }]);
  });

  test("remains after a change of nick, and the reply goes to the new nick", async () => {
    const server = await serve();
    const { state } = await open(server, { saslPassword: "correct horse" });
    await connected(state);
    let release = () => {};
    server.script = (line) => {
      if (!line.includes("heard: hi")) return false;
      release();
      return false;
    };
    const first = new Promise<void>((resolve) => {
      release = resolve;
    });
    server.send(message("hi", "@account=ada "));
    await first;
    server.send(":ada!a@127.0.0.1 NICK ada_away");
    server.send("@account=ada :ada_away!a@127.0.0.1 PRIVMSG bot :still me");
    await expect.poll(() => server.messages.at(-1)).toEqual({ target: "ada_away", text: "heard: still me" });
  });
});

test.concurrent("a dropped message is not sent; a rate limit is retried, a missing consent is not", async () => {
  const server = await serve();
  const { state, ends } = await open(server, { retry: { minDelayMs: 10, maxDelayMs: 50 } });
  await connected(state);
  const answers = [
    ":irc.test 707 bot ada :Targets changing too fast, message dropped",
    ":irc.test 439 bot ada :Target change too fast",
  ];
  server.script = (line, socket) => {
    const next = line.startsWith("PRIVMSG ada ") ? answers.shift() : undefined;
    if (next !== undefined) socket.write(`${next}\r\n`);
    if (line.startsWith("PRIVMSG eve ")) socket.write(":irc.test 716 bot eve :is in +g mode (server-side ignore.)\r\n");
    return next !== undefined;
  };
  server.send(message("hi"));
  await expect.poll(() => server.messages).toEqual([{ target: "ada", text: "heard: hi" }]);
  expect(answers).toEqual([]);
  server.send(":eve!e@127.0.0.1 PRIVMSG bot :hi");
  await expect.poll(() => ends).toEqual(["answered", "irc_refused"]);
});

test.concurrent("formatting is removed, and an action is reported as an action", async () => {
  const server = await serve();
  const { state } = await open(server);
  await connected(state);
  server.send(message("\u0002bold\u000f \u00034,5red\u0003\tand \u0004ff8000,00FF00orange\u0004"));
  server.send(message("\u0001ACTION waves\u0001"));
  await expect
    .poll(() => server.messages.map(({ text }) => text))
    .toEqual(["heard: bold red and orange", "heard: * ada waves"]);
});

describe.concurrent("a faulty server", () => {
  test("that falls silent during a send loses nothing, and the reply is sent on the next connection", async () => {
    const server = await serve();
    let cuts = 0;
    server.script = (line, socket) => {
      if (!line.startsWith("PRIVMSG") || cuts > 0) return false;
      cuts += 1;
      socket.destroy();
      return true;
    };
    const { state } = await open(server, { retry: { minDelayMs: 10, maxDelayMs: 50 } });
    await connected(state);
    server.send(message("hi"));
    await expect.poll(() => server.messages.map(({ text }) => text)).toEqual(["heard: hi"]);
    expect(cuts).toBe(1);
  });

  test("that sends an endless line or junk is disconnected and retried", async () => {
    const server = await serve();
    const { state } = await open(server);
    await connected(state);
    for (const junk of [
      "",
      " ",
      ":",
      "@",
      ":a",
      "@a=b :c",
      "PRIVMSG",
      ":x PRIVMSG bot",
      "001",
      "CAP",
      ":\u0000 005",
      "KICK",
      "NICK",
    ])
      server.send(junk);
    // What cannot be written back as a line.
    for (const hostile of ["\u0001PING a\rb\u0001", "\u0001PING a\u0000b\u0001"]) server.send(message(hostile));
    server.send(":e\u0000ve!e@127.0.0.1 PRIVMSG bot :hi");
    server.send(message("hi"));
    await expect.poll(() => server.messages.length).toBe(1);
    const before = server.lines.length;
    server.send("x".repeat(400_000));
    await expect.poll(() => server.lines.slice(before).some((line) => line.startsWith("NICK"))).toBe(true);
  });
});

describe.concurrent("outgoing text", () => {
  test("has lines of at most 512 relayed bytes in any language, and the first is addressed to the asker", async () => {
    const server = await serve();
    const { state } = await open(server, { channels: ["#room"], groupPolicy: "open" });
    await connected(state);
    server.send(":ada!a@127.0.0.1 PRIVMSG #room :bot: long");
    await expect
      .poll(() => server.messages.map(({ text }) => text).join(" "))
      .toBe(`ada: ${"word ".repeat(300).trim()}`);
    const prefix = `:${"n".repeat(30)}!${"u".repeat(11)}@${"h".repeat(63)} `;
    server.send(`:ada!a@127.0.0.1 PRIVMSG #room :bot: ${"😀".repeat(100)}`);
    await expect.poll(() => server.messages.at(-1)?.text).toContain("😀");
    for (const { target, text } of server.messages)
      expect(Buffer.byteLength(`${prefix}PRIVMSG ${target} :${text}\r\n`)).toBeLessThanOrEqual(512);
  });

  test("respects the rate limit of the server", async () => {
    const server = await serve();
    const { state } = await open(server, { burst: 2, everyMs: 300 });
    await connected(state);
    const began = performance.now();
    server.send(message("long"));
    await expect.poll(() => server.messages.map(({ text }) => text).join(" ").length).toBe(1_499);
    expect(server.messages.length).toBeGreaterThanOrEqual(4);
    expect(performance.now() - began).toBeGreaterThan((server.messages.length - 2) * 290);
  });

  test("answers a CTCP query with a notice, at most once in ten seconds", async () => {
    const server = await serve();
    const { state } = await open(server);
    await connected(state);
    for (let count = 0; count < 5; count += 1) server.send(message("\u0001PING 12345\u0001"));
    server.send(message("hi"));
    await expect.poll(() => server.messages.length).toBe(1);
    expect(server.lines.filter((line) => line.startsWith("NOTICE"))).toEqual(["NOTICE ada :\u0001PING 12345\u0001"]);
  });
});
