/** How many questions people can cause, how many an owner gets, and whom a question holds up. */
import { describe, expect, test } from "vitest";
import { type GrantLab, openGrantLab, until } from "./grant-lab.ts";

const questions = ({ host }: GrantLab, chat = "owner") =>
  host.outbox().flatMap((sent) => (sent.chat === chat && sent.text.includes("asks to use `burn`") ? [sent.text] : []));
const codes = (lab: GrantLab) => questions(lab).map((text) => /`\/deny ([A-Z2-9]{8})`/.exec(text)?.[1] ?? "");
const inGroup = (chat: string, from = "stranger") => ({ from, group: true, mention: true, chat });
const only = { channels: { tin: { enabled: false } } };

describe("a stranger in many groups", () => {
  test("has at most three pending approval requests; others are denied at once, also after a restart", async () => {
    const lab = await openGrantLab({ config: only });
    const turns = Array.from({ length: 60 }, (_, index) => lab.host.say("write", inGroup(`group-${index}`)));
    const isOver = ({ outcome }: { readonly outcome: string }) => outcome;
    const ended: string[] = [];
    for (const turn of turns)
      void turn.then(
        (end) => ended.push(isOver(end)),
        () => {},
      );
    await until(() => expect(ended).toHaveLength(57));
    expect(questions(lab)).toHaveLength(3);
    const limited = lab.host
      .ended()
      .filter(({ decisions }) => decisions.some(({ code }) => code === "approval_limited"));
    expect(limited).toHaveLength(57);
    expect(
      lab.host.outbox().filter(({ text }) => text.includes("3 questions of this requester already wait")),
    ).toHaveLength(57);

    await lab.host.restart({ killed: true });
    await lab.host.say("write", inGroup("group-after"));
    expect(questions(lab)).toHaveLength(3);
    for (const code of codes(lab)) await lab.host.say(`/deny ${code}`);
    await Promise.all(turns);
    const next = lab.host.say("write", inGroup("group-1"));
    await until(() => expect(questions(lab)).toHaveLength(4));
    await lab.host.say(`/deny ${codes(lab).at(-1)}`);
    await next;
    expect(lab.runs()).toBe(0);
  });

  test("does not use up another stranger's approval requests", async () => {
    const lab = await openGrantLab({ config: only });
    const turns = [1, 2, 3, 4].map((index) => lab.host.say("write", inGroup(`group-${index}`)));
    await until(() => expect(questions(lab)).toHaveLength(3));
    turns.push(lab.host.say("write", inGroup("group-1", "another")), lab.host.say("write"));
    await until(() => expect(questions(lab)).toHaveLength(4));
    for (const code of codes(lab)) await lab.host.say(`/deny ${code}`);
    await until(() => expect(questions(lab).length).toBeGreaterThan(4));
    for (const code of codes(lab)) await lab.host.say(`/deny ${code}`);
    await Promise.all(turns);
    expect(questions(lab)).toHaveLength(5);
  });
});

test("an owner gets at most twenty requests of others per hour, then a notice; their own calls still ask", async () => {
  const lab = await openGrantLab({ config: only });
  const deny = async (text: string, said: Parameters<GrantLab["host"]["say"]>[1]) => {
    const count = questions(lab).length;
    const turn = lab.host.say(text, said);
    await until(() => expect(questions(lab)).toHaveLength(count + 1));
    await lab.host.say(`/deny ${codes(lab).at(-1)}`);
    await turn;
  };
  for (let count = 0; count < 20; count += 1) await deny("write", inGroup("group", `stranger-${count}`));
  for (const from of ["one", "two"]) await lab.host.say("write", inGroup("group", from));
  await lab.host.restart();
  await lab.host.say("write", inGroup("group", "three"));
  expect(questions(lab)).toHaveLength(20);
  const notices = lab.host
    .outbox()
    .filter(({ chat, text }) => chat === "owner" && text.startsWith("I have asked you 20 times within an hour"));
  expect(notices).toHaveLength(1);
  await deny("write", { from: "owner" });
  await lab.host.advance(61 * 60_000);
  await deny("write", inGroup("group", "four"));
  expect(lab.runs()).toBe(0);
});

describe("a turn that waits for an owner's approval", () => {
  test("blocks only its own chat: other chats of the session continue; the conversation stays in order", async () => {
    const seen: string[] = [];
    const lab = await openGrantLab({
      config: only,
      async answer({ inbound, messages, tools }, signal) {
        seen.push(messages.map(({ role, text }) => `${role}: ${text.replace(/^\[.*?\] /, "")}`).join(" | "));
        if (!inbound.text.startsWith("write")) return `heard ${inbound.text}`;
        return JSON.stringify(await tools.find(({ name }) => name === "burn")?.run({ what: "letters" }, signal));
      },
    });
    const waiting = lab.host.say("write", { from: "guest" });
    await until(() => expect(questions(lab)).toHaveLength(1));
    const behind = lab.host.say("thanks", { from: "guest" });
    expect((await lab.host.say("hello")).sessionKey).toBe("agent:main:main");
    expect((await lab.host.say("again")).outcome).toBe("answered");
    // In the guest's own chat, nothing overtakes the question.
    expect(lab.host.outbox().filter(({ chat }) => chat === "guest")).toHaveLength(1);
    await lab.host.say(`/approve ${codes(lab)[0]}`);
    await waiting;
    await behind;
    expect(lab.host.outbox().flatMap(({ chat, text }) => (chat === "guest" ? [text] : []))).toEqual([
      expect.stringContaining("wait for the answer"),
      '"ashes"',
      "heard thanks",
    ]);
    await lab.host.say("last");
    const roles = seen
      .at(-1)
      ?.split(" | ")
      .map((line) => line.split(":")[0]);
    expect(roles?.join(" ")).toBe("user assistant user assistant user assistant user assistant user");
    expect(seen.at(-1)).toMatch(/hello.*heard hello.*again.*heard again.*write.*ashes.*thanks.*heard thanks.*last/s);
  });

  test("does not join the conversation that /new in another chat began meanwhile", async () => {
    const seen: string[] = [];
    const lab = await openGrantLab({
      config: only,
      async answer({ inbound, messages, tools }, signal) {
        seen.push(messages.map(({ text }) => text).join(" | "));
        if (inbound.text !== "write") return "heard";
        return JSON.stringify(await tools.find(({ name }) => name === "burn")?.run({ what: "letters" }, signal));
      },
    });
    const waiting = lab.host.say("write", { from: "guest" });
    await until(() => expect(questions(lab)).toHaveLength(1));
    await lab.host.say("/new");
    await lab.host.say(`/approve ${codes(lab)[0]} session`);
    expect((await waiting).outcome).toBe("answered");
    await lab.host.say("hello");
    expect(seen.at(-1)).not.toMatch(/write|ashes/);
    // The grant is of the conversation before.
    const again = lab.host.say("write", { from: "guest" });
    await until(() => expect(questions(lab)).toHaveLength(2));
    await lab.host.say(`/deny ${codes(lab)[1]}`);
    await again;
  });

  test("resumes after the turns then running in its session, never beside them", async () => {
    let running = 0;
    let most = 0;
    const release = Promise.withResolvers<void>();
    const lab = await openGrantLab({
      config: only,
      async answer({ inbound, tools }, signal) {
        if (inbound.text === "write") await tools.find(({ name }) => name === "burn")?.run({ what: "letters" }, signal);
        running += 1;
        most = Math.max(most, running);
        if (inbound.text === "slow") await release.promise;
        running -= 1;
        return "done";
      },
    });
    const waiting = lab.host.say("write", { from: "guest" });
    await until(() => expect(questions(lab)).toHaveLength(1));
    const slow = lab.host.say("slow");
    await until(() => expect(running).toBe(1));
    await lab.host.say(`/approve ${codes(lab)[0]}`);
    // The owner's answer is taken at once, and the turn waits for its session again.
    expect(lab.host.outbox().some(({ text }) => text.startsWith("Allowed; the call begins"))).toBe(true);
    release.resolve();
    await Promise.all([waiting, slow]);
    expect(most).toBe(1);
    expect(lab.runs()).toBe(1);
  });

  test("ends in its session when stopped, even while another turn runs there", async () => {
    const release = Promise.withResolvers<void>();
    const lab = await openGrantLab({
      config: only,
      async answer({ inbound, tools }, signal) {
        if (inbound.text === "slow") await release.promise;
        if (inbound.text === "write") await tools.find(({ name }) => name === "burn")?.run({ what: "letters" }, signal);
        return "done";
      },
    });
    const waiting = lab.host.say("write", { from: "guest" });
    await until(() => expect(questions(lab)).toHaveLength(1));
    const slow = lab.host.say("slow");
    await lab.host.say("/stop", { from: "guest" });
    release.resolve();
    expect((await waiting).reason).toBe("stopped");
    await slow;
    expect((await lab.host.say("hello")).outcome).toBe("answered");
    expect(lab.runs()).toBe(0);
  });
});
