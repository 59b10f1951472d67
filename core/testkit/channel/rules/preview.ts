/** An answer that people see growing. */
import type { Address } from "../../../contract/index.ts";
import type { ChannelPreview } from "../../../sdk/contract.ts";
import { realWait } from "../../host/played-clock.ts";
import { type Bench, never, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";

/** Long enough for a channel that shows nothing of short answers. */
const opening = "This is the beginning of a reply that is long enough for a preview";

/** A text so far: its words are numbered, so that it is seen how much of it a message shows. */
function grown(words: number): string {
  return [opening, ...Array.from({ length: words }, (_, index) => `word${index}`)].join(" ");
}

/** The number of the last word in a text; -1: none. */
function progressOf(text: string): number {
  return Math.max(-1, ...[...text.matchAll(/word(\d+)/g)].map(([, number]) => Number(number)));
}

interface Opened {
  readonly preview: ChannelPreview;
  readonly address: Address;
  /** What `onMessage` received last. */
  readonly named: () => readonly string[];
}

/** As long as the keys of the gateway. */
const [firstKey, secondKey] = ["0123456789abcpreview", "0123456789abdpreview"];

function openPreview(bench: Bench, address: Address, resume: readonly string[] = [], key = firstKey): Opened {
  let named: readonly string[] = resume;
  const preview = bench.connection.preview?.(address, {
    resume,
    key,
    onMessage: (ids) => {
      named = ids;
    },
  });
  if (preview === undefined) throw new Error("The capability edits is declared, but the connection has no preview().");
  return { preview, address, named: () => named };
}

/** A preview of which the person sees something. */
async function show(bench: Bench): Promise<Opened> {
  const { address } = await bench.meet("Hello");
  const opened = openPreview(bench, address);
  opened.preview.update(grown(1));
  await bench.until(
    () => bench.platform.read().some((text) => text.includes("the beginning")),
    () => "A preview was updated, but the person does not see it.",
  );
  return opened;
}

async function shows(bench: Bench): Promise<void> {
  const { preview } = await show(bench);
  preview.update(grown(5));
  await bench.until(
    () => bench.platform.read().some((text) => progressOf(text) === 4),
    () => `A preview was updated again, but the person sees ${shown(bench.platform.read())}. Show the newest text.`,
  );
  await preview.close();
}

/** Updates as an engine causes them. */
async function stream(preview: ChannelPreview, updates: number, everyMs: number): Promise<void> {
  for (let words = 0; words < updates; words += 1) {
    preview.update(grown(words));
    await realWait(everyMs);
  }
}

async function neverGoesBack(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const { preview } = openPreview(bench, address);
  await stream(preview, 120, 10);
  await preview.close();
  await realWait(100);
  const progress = bench.able("history")().map(progressOf);
  if (progress.some((one, index) => one < (progress[index - 1] ?? -1)))
    throw new Error(
      `A preview showed the words ${shown(progress)} in this order. It must never go back. Make one call at a time.`,
    );
}

async function keepsPace(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const { preview } = openPreview(bench, address);
  const updates = 100;
  await stream(preview, updates, 1);
  await preview.close();
  const calls = bench.able("history")().length;
  if (calls > updates / 2)
    throw new Error(
      `${updates} quick updates caused ${calls} calls. The host updates often, so the channel must limit the rate.`,
    );
}

async function becomesAnswer(bench: Bench): Promise<void> {
  const { preview, address } = await show(bench);
  preview.update(grown(3));
  const [replaces, ...others] = await preview.close();
  if (replaces === undefined)
    throw new Error(
      "The person sees a preview, but its close returns no message id, so the message would remain forever.",
    );
  const answer = `${grown(9)} and its end.`;
  const [first, ...rest] = bench.render(answer, address);
  if (first === undefined) throw new Error("render returns no part for a text.");
  await bench.connection.send({ ...first, replaces }, address, never);
  for (const part of rest) await bench.connection.send(part, address, never);
  for (const id of others) await bench.connection.remove?.(id, address, never);
  const seen = () => bench.platform.read().join(" ").replace(/\s+/g, " ").trim();
  await realWait(200);
  await bench.until(
    () => seen() === answer,
    () => `The reply replaced its preview, and the person sees ${shown(bench.platform.read())}.`,
  );
}

async function endsAtClose(bench: Bench): Promise<void> {
  const { preview } = await show(bench);
  const ids = await preview.close();
  const before = bench.platform.read();
  preview.update(grown(50));
  await realWait(400);
  if (JSON.stringify(bench.platform.read()) !== JSON.stringify(before))
    throw new Error("A preview changed after its close, so it would overwrite the reply.");
  const again = await preview.close();
  if (JSON.stringify(again) !== JSON.stringify(ids))
    throw new Error(`The second close returns ${shown(again)}, but the first returned ${shown(ids)}.`);
}

async function namesMessages(bench: Bench): Promise<void> {
  const { preview, named } = await show(bench);
  await bench.until(
    () => named().length > 0,
    () => "The person sees a preview, but onMessage was not called. After a kill, the message would remain.",
  );
  const closed = await preview.close();
  if (JSON.stringify(closed) !== JSON.stringify(named()))
    throw new Error(`close returns the messages ${shown(closed)}, but onMessage reported ${shown(named())}.`);
}

async function resumes(bench: Bench): Promise<void> {
  const first = await show(bench);
  const ids = await first.preview.close();
  const count = bench.platform.read().length;
  // With another key, because the ids alone must be enough.
  const second = openPreview(bench, first.address, ids, secondKey);
  second.preview.update(grown(7));
  await bench.until(
    () => bench.platform.read().some((text) => progressOf(text) === 6),
    () => `A preview that resumes with the messages ${shown(ids)} does not update them.`,
  );
  await second.preview.close();
  if (bench.platform.read().length !== count)
    throw new Error("A preview that resumes created a new message. Edit the messages in resume.");
}

/** A process that is killed between the sending of a message and the storing of its id knows nothing of it. */
async function recognisesKey(bench: Bench): Promise<void> {
  const first = await show(bench);
  await first.preview.close();
  const count = bench.platform.read().length;
  const second = openPreview(bench, first.address);
  let words = 7;
  await bench.until(
    () => {
      // The message that is there shows the text of before until it is edited.
      words += 1;
      second.preview.update(grown(words));
      return bench.platform.read().some((text) => progressOf(text) >= 7);
    },
    () =>
      "A preview with the key of an earlier one shows nothing. The platform returns the message that is there: " +
      "edit it.",
  );
  await second.preview.close();
  if (bench.platform.read().length !== count)
    throw new Error(
      "A preview with the key of an earlier one created a second message. Pass the key to the platform, or do not " +
        "declare capabilities.repeats.",
    );
}

async function survivesOutage(bench: Bench): Promise<void> {
  const { preview, named } = await show(bench);
  const known = named();
  await bench.fail("away");
  for (let words = 2; words < 20; words += 1) {
    preview.update(grown(words));
    await realWait(10);
  }
  const outcome = await bench.ending(preview.close());
  if (outcome === "late") throw new Error("The platform is unavailable, and close of a preview does not end in time.");
  if ("error" in outcome)
    throw new Error("The platform is unavailable, and close of a preview rejects. Resolve with the messages.", {
      cause: outcome.error,
    });
  if (!known.every((id) => outcome.value.includes(id)))
    throw new Error(
      `The platform is unavailable, and close returns ${shown(outcome.value)}, but the messages ` +
        `${shown(known)} still exist.`,
    );
}

async function leavesNoTimer(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const own = await bench.timersAtRest();
  // A few timers more may belong to a library; one for each preview does not. Before, one of the channel's own may have
  // been active throughout.
  const previews = 5;
  const most = previews - 2;
  for (let count = 0; count < previews; count += 1) {
    const { preview } = openPreview(bench, address);
    for (let words = 0; words < 20; words += 1) preview.update(grown(words));
    await preview.close();
  }
  let left = 0;
  await bench.until(
    async () => {
      left = (await bench.timersAtRest()) - own;
      return left <= most;
    },
    () => `After ${previews} previews were closed, ${left} more timers are active than before.`,
  );
}

export const previewRules: readonly Rule[] = [
  { title: "preview > shows the growing text", capability: "edits", needs: [], run: shows },
  { title: "preview > never shows an older text", capability: "edits", needs: ["history"], run: neverGoesBack },
  {
    title: "preview > keeps the platform's pace",
    capability: "edits",
    needs: ["history"],
    alone: true,
    run: keepsPace,
  },
  { title: "preview > becomes the answer", capability: "edits", needs: [], run: becomesAnswer },
  { title: "preview > changes nothing after its close", capability: "edits", needs: [], run: endsAtClose },
  { title: "preview > names its messages", capability: "edits", needs: [], run: namesMessages },
  { title: "preview > resumes after a killed process", capability: "edits", needs: [], run: resumes },
  {
    title: "preview > continues its first message by its key",
    declares: (_, { edits, repeats }) => edits === true && repeats !== undefined,
    needs: [],
    run: recognisesKey,
  },
  { title: "preview > can be closed during an outage", capability: "edits", needs: ["away"], run: survivesOutage },
  { title: "preview > leaves no timer", capability: "edits", needs: [], alone: true, run: leavesNoTimer },
];
