/** What two nodes of one store do for each other: whichever node is asked, the answer is the same. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, say } from "../openai-server/answers.ts";
import { usePostgres } from "../support/postgres.ts";
import { answered, createNodeGroup, hookToken, type Node, type NodeGroup, personOf, postHook, startPair } from "./node-group.ts";

const database = usePostgres();
const ends: (() => void | Promise<void>)[] = [];
let group: NodeGroup;
/** The node that receives for the bot, and the other one. */
let holder: Node;
let other: Node;

beforeAll(async () => {
  const hooks = { enabled: true, token: hookToken, allowRequestSessionKey: true, allowedSessionKeyPrefixes: ["agent:main:"] };
  group = await createNodeGroup(database, (end) => void ends.push(end), { hooks });
  [holder, other] = await startPair(group);
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** The sum of the requests that the model has received. */
const asked = () => group.model.requests.length;

test("/stop ends a turn that the other node runs, within 500 ms, and says so", async () => {
  const { platform, model } = group;
  const ada = personOf(platform);
  model.script(say("one two three", { delayMs: 20_000 }));
  const before = asked();
  const quietly = { wakeMode: "next-heartbeat" };
  await postHook(other, "agent", { message: "write a long text", deliver: true, channel: "botchat", to: String(ada), ...quietly });
  await expect.poll(asked).toBe(before + 1);
  // It runs on the node that accepted it, which is not the one that receives the command.
  expect(await runningOn(other)).toBe(1);
  const gone = model.requests.at(-1)?.gone.then(() => performance.now());
  platform.act.say(ada, ada, "/stop");
  const toldAt = performance.now();
  expect((await gone) ?? Number.POSITIVE_INFINITY).toBeLessThan(toldAt + 500);
  await answered(platform, ada, "Stopped.");
  platform.act.say(ada, ada, "/stop");
  await answered(platform, ada, "Nothing is running here.");
});

test("turns of one session that two nodes run never overlap, and each one reads what the others have written", async () => {
  const { platform, model } = group;
  const [ada, bela] = [personOf(platform), personOf(platform, 1)];
  let running = 0;
  let most = 0;
  const numbers = [1, 2, 3, 4, 5];
  model.script(
    ...numbers.map(
      (number): Answer =>
        async (exchange) => {
          running += 1;
          most = Math.max(most, running);
          await say("noted", { firstDelayMs: number === 1 ? 1_000 : 200 })(exchange);
          running -= 1;
        },
    ),
  );
  const before = asked();
  const post = async (node: Node, number: number) => {
    const { status } = await postHook(node, "agent", {
      ...{ message: `message ${number}`, sessionKey: "agent:main:main" },
      ...{ deliver: false, wakeMode: "next-heartbeat" },
    });
    expect(status).toBe(202);
  };
  platform.act.say(ada, ada, "message 1");
  await expect.poll(asked).toBe(before + 1);
  await post(other, 2);
  await expect.poll(() => runningOn(other)).toBe(1);
  platform.act.say(bela, bela, "message 3");
  await expect.poll(() => runningOn(holder)).toBe(2);
  await post(holder, 4);
  await post(other, 5);
  await expect.poll(asked, { timeout: 20_000 }).toBe(before + numbers.length);
  await expect.poll(() => running).toBe(0);
  expect(most).toBe(1);
  // Each request contains the messages of all earlier ones, in their order, and its own at the end.
  const seen = model.requests.slice(before).map(({ body }) => [...new Set(JSON.stringify(body.messages).match(/message \d/g))]);
  expect(seen.map(({ length }) => length)).toEqual(numbers);
  expect(seen.at(-1)?.toSorted()).toEqual(numbers.map((number) => `message ${number}`));
  for (const [index, each] of seen.entries()) expect(seen[index + 1]?.slice(0, -1) ?? each).toEqual(each);
});

/** Number of units that a node runs. */
async function runningOn({ name }: Node): Promise<number> {
  const sql = `SELECT count(*)::int AS units FROM $schema.units u JOIN $schema.nodes n ON n.fence = u.fence WHERE u.state = 1 AND n.node = '${name}'`;
  const [row] = await database.query(group.url, sql);
  return Number(row?.units);
}
