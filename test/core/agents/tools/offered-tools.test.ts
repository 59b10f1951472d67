/**
 * Tools of plugins, as an agent has them: offered by the configuration, checked, limited in time and size, and told by
 * `why`.
 */
import { definePlugin, type EngineTurn, type Json, type PluginHost, Type } from "service-gateway/sdk";
import { createTestHost, type TestHost, type TestHostOptions } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import { shownResult } from "../../../../core/agents/tools/tool-result.ts";

type Setup = (host: PluginHost) => void;

/** A turn of this host calls the tools that the message names, one per line, and answers with their results. */
async function hostWith(setup: Setup, options: TestHostOptions = {}): Promise<TestHost> {
  const lab = definePlugin({ id: "lab", version: "1.0.0", host: "^0.2.0", setup });
  const host = await createTestHost({ plugins: [lab], answer: callTools, ...options });
  onTestFinished(() => host.close());
  return host;
}

async function callTools({ inbound, tools, instructions }: EngineTurn, signal: AbortSignal): Promise<string> {
  if (inbound.text === "names") return tools.map(({ name }) => name).join(" ");
  if (inbound.text === "instructions") return instructions;
  const [name = "", args = "{}"] = inbound.text.split(/ (.*)/s);
  const tool = tools.find((one) => one.name === name);
  return tool === undefined ? `no tool ${name}` : JSON.stringify(await tool.run(JSON.parse(args) as Json, signal));
}

async function ask(host: TestHost, text: string): Promise<string> {
  await host.say(text, { from: "owner" });
  return host.outbox().at(-1)?.text ?? "";
}

const dice = {
  name: "roll_dice",
  description: "Rolls dice.",
  parameters: Type.Object({ count: Type.Integer({ minimum: 1, maximum: 20, default: 1, description: "How many." }) }),
};

test("a tool is called with validated arguments and their defaults", async () => {
  const host = await hostWith(({ tool }) =>
    tool({
      ...dice,
      run: ({ args, turn, key }) => ({ rolled: args.count, agent: turn.agentId, keyed: key.length > 20 }),
    }),
  );
  expect(await ask(host, "names")).toContain("roll_dice");
  expect(await ask(host, "roll_dice {}")).toBe('{"rolled":1,"agent":"main","keyed":true}');
  expect(await ask(host, 'roll_dice {"count":"six"}')).toMatch(
    /"ok":false.*arguments\.count is .*"code":"invalid_arguments"/,
  );
});

test("the configuration decides which tools an agent has, including the gateway's own", async () => {
  const tools: Setup = ({ tool }) => {
    for (const name of ["lab_heat", "lab_cool", "other"]) tool({ ...dice, name, run: () => "done" });
  };
  const agents = (settings: object) => ({ config: { agents: { defaults: { tools: settings } } } });
  expect(await ask(await hostWith(tools, agents({ allow: ["lab_*", "send"] })), "names")).toBe(
    "send lab_heat lab_cool",
  );
  expect(await ask(await hostWith(tools, agents({ allow: ["lab_*"], deny: ["*_heat"] })), "names")).toBe("lab_cool");
  expect(await ask(await hostWith(tools, agents({ allow: [] })), "names")).toBe("");
});

test("a listed agent has its own tool list or the defaults; a tool can name its agents", async () => {
  const host = await hostWith(({ tool }) => tool({ ...dice, agents: ["nurse"], run: () => "done" }), {
    config: {
      agents: {
        defaults: { tools: { allow: ["roll_dice", "send"] } },
        list: [{ id: "main" }, { id: "nurse", tools: { deny: ["send"] } }],
      },
      bindings: [{ agentId: "nurse", match: { channel: "loopback", peer: { kind: "direct", id: "owner" } } }],
    },
  });
  expect(await ask(host, "names")).toBe("roll_dice");
  await host.say("names", { from: "guest" });
  expect(host.outbox().at(-1)?.text).toBe("send");
});

test("the model reads what a tool threw or that it answered too late, and `why` shows both", async () => {
  const host = await hostWith(
    ({ tool }) => {
      tool({
        ...dice,
        name: "broken",
        run: () => {
          throw new Error("the dice are under the table");
        },
      });
      tool({
        ...dice,
        name: "slow",
        timeoutSeconds: 0.02,
        run: ({ signal }) => new Promise((_, no) => signal.addEventListener("abort", no)),
      });
    },
    { answer: callTools },
  );
  expect(await ask(host, "broken")).toBe('{"ok":false,"error":"the dice are under the table","code":"tool_failed"}');
  const { eventId } = await host.say("slow", { from: "owner" });
  expect(host.outbox().at(-1)?.text).toMatch(/did not answer within 0\.02 s.*tool_timeout/);
  expect(await host.why(eventId)).toContainEqual(
    expect.objectContaining({ station: "turn", plugin: "lab", code: "tool_timeout" }),
  );
});

test("an overlong result is cut in the middle, and files beyond the limits are omitted with a note", async () => {
  const file = { mimeType: "image/png", data: "AAAA" };
  expect(shownResult(`begin${"x".repeat(60_000)}end`)).toMatch(
    /^begin[x]{24995}\n\[10008 characters left out\]\n[x]{24997}end$/,
  );
  const host = await hostWith(({ tool }) => {
    tool({
      ...dice,
      name: "album",
      run: () => ({ text: "Six pictures.", media: Array.from({ length: 6 }, () => file) }),
    });
  });
  expect(JSON.parse(await ask(host, "album"))).toEqual({
    text: "Six pictures.\n[2 of 6 files left out: at most 4 of 5 MB each are shown]",
    media: [file, file, file, file],
  });
});

test("of two tools with the same name, the second is left out, which is logged", async () => {
  const host = await hostWith(({ tool, toolSource }) => {
    tool({ ...dice, run: () => "first" });
    toolSource({
      id: "attic",
      offer: () => ({ tools: [{ ...dice, parameters: { type: "object" }, run: () => "second" }] }),
    });
  });
  expect(await ask(host, "roll_dice")).toBe('"first"');
});

test("/tools shows people which tools need approval and omits what only a model needs", async () => {
  const host = await hostWith(({ tool, toolSource }) => {
    tool({ ...dice, needsApproval: true, run: () => "rolled" });
    toolSource({
      id: "attic",
      offer: () => ({
        tools: [
          {
            ...dice,
            name: "fetch",
            parameters: { type: "object" },
            needsApproval: async () => "It may change something.",
            run: () => "",
          },
          { ...dice, name: "look", parameters: { type: "object" }, needsApproval: () => false, run: () => "" },
        ],
        context: ["The sender is in the attic."],
      }),
    });
  });
  expect(await ask(host, "instructions")).toContain("The sender is in the attic.");
  const listed = await ask(host, "/tools");
  expect(listed).toMatch(
    /- `roll_dice` \(asks an owner first\): .*\n- `fetch` \(asks an owner first\): .*\n- `look`: /,
  );
  expect(listed).not.toContain("The sender is in the attic.");
});

test("a source reports what is missing and refuses a turn that requires it", async () => {
  let down = false;
  const host = await hostWith(({ toolSource }) =>
    toolSource({
      id: "attic",
      offer: () => ({
        tools: [],
        notes: ["The attic is locked today."],
        ...(down && { refused: { reason: "The attic is locked, and it is required", hint: "Find the key." } }),
      }),
    }),
  );
  expect(await ask(host, "instructions")).toContain("The attic is locked today.");
  expect(await ask(host, "/tools")).toMatch(/^\*\*Tools\*\*\n- `send`: .*\n\nThe attic is locked today\.$/s);
  down = true;
  const { outcome, reason, eventId } = await host.say("names", { from: "owner" });
  expect({ outcome, reason }).toEqual({ outcome: "failed", reason: "tool_source_down" });
  expect(await ask(host, "/tools")).toBe("The attic is locked, and it is required.");
  expect(await host.why(eventId)).toContainEqual(
    expect.objectContaining({ code: "tool_source_down", hint: "Find the key." }),
  );
});

test("a source that throws costs the turn its tools, not its reply", async () => {
  const host = await hostWith(({ toolSource }) =>
    toolSource({
      id: "attic",
      offer() {
        throw new Error("no light");
      },
    }),
  );
  expect(await ask(host, "no_such_tool")).toBe("no tool no_such_tool");
});

test("the next turn sees which tools were called, in brief and without files", async () => {
  const host = await hostWith(
    ({ tool }) =>
      tool({
        ...dice,
        run: ({ args }) => ({
          text: `rolled ${args.count} `.repeat(40),
          media: [{ mimeType: "image/png", data: "AAAA" }],
        }),
      }),
    {
      answer: async (turn, signal) =>
        turn.inbound.text === "history"
          ? turn.messages.map(({ text }) => text).join("\n")
          : await callTools(turn, signal).then(() => "Rolled."),
    },
  );
  await ask(host, 'roll_dice {"count":3}');
  expect(await ask(host, "history")).toMatch(
    /\n<<<external-content \w{32}>>>\nSource: [^\n]*\n---\nroll_dice: \{"text":"rolled 3 .{100,160}…\n<<<end-external-content \w{32}>>>\n\[used roll_dice \{"count":3\}: done\]\nRolled\.\n/,
  );
});

test("a tool does not run if its needsApproval function fails", async () => {
  let ran = false;
  const host = await hostWith(({ tool }) =>
    tool({
      ...dice,
      needsApproval() {
        throw new Error("the rules are lost");
      },
      run() {
        ran = true;
      },
    } as never),
  );
  expect(await ask(host, "roll_dice")).toMatch(/the rules are lost/);
  expect(ran).toBe(false);
});
