/** An answer that people see growing. */
import type { Address } from "../../../contract/index.ts";
import type { ChannelPreview } from "../../../sdk/contract.ts";
import { realWait } from "../../host/played-clock.ts";
import { type Bench, never, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";

/** Long enough for a channel that shows nothing of short answers. */
const opening = "This is the beginning of an answer that is long enough to be shown while it grows";

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

function openPreview(bench: Bench, address: Address, resume: readonly string[] = []): Opened {
  let named: readonly string[] = resume;
  const preview = bench.connection.preview?.(address, {
    resume,
    onMessage: (ids) => {
      named = ids;
    },
  });
  if (preview === undefined) throw new Error("The capability edits is declared, and the connection has no preview().");
  return { preview, address, named: () => named };
}

/** A preview of which the person sees something. */
async function show(bench: Bench): Promise<Opened> {
  const { address } = await bench.meet("Hello");
  const opened = openPreview(bench, address);
  opened.preview.update(grown(1));
  await bench.until(
    () => bench.platform.read().some((text) => text.includes("the beginning")),
    () => "A preview was updated, and the person sees nothing of it.",
  );
  return opened;
}

async function shows(bench: Bench): Promise<void> {
  const { preview } = await show(bench);
  preview.update(grown(5));
  await bench.until(
    () => bench.platform.read().some((text) => progressOf(text) === 4),
    () => `A preview was updated again, and the person sees ${shown(bench.platform.read())}: show the newest text.`,
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
    throw new Error(`A preview showed its text up to the words ${shown(progress)}: it must never go back. Make one call at a time.`);
}

async function keepsPace(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const { preview } = openPreview(bench, address);
  const updates = 100;
  await stream(preview, updates, 1);
  await preview.close();
  const calls = bench.able("history")().length;
  if (calls > updates / 2)
    throw new Error(`${updates} quick updates led to ${calls} calls: the host updates often, and the channel keeps the pace.`);
}

async function becomesAnswer(bench: Bench): Promise<void> {
  const { preview, address } = await show(bench);
  preview.update(grown(3));
  const [replaces, ...others] = await preview.close();
  if (replaces === undefined) throw new Error("The person sees a preview, and its close names no message: it would stay for ever.");
  const answer = `${grown(9)} and its end.`;
  const [first, ...rest] = bench.render(answer, address);
  if (first === undefined) throw new Error("render makes no part of a text.");
  await bench.connection.send({ ...first, replaces }, address, never);
  for (const part of rest) await bench.connection.send(part, address, never);
  for (const id of others) await bench.connection.remove?.(id, address, never);
  const seen = () => bench.platform.read().join(" ").replace(/\s+/g, " ").trim();
  await realWait(200);
  await bench.until(
    () => seen() === answer,
    () => `The answer took the place of its preview, and the person sees ${shown(bench.platform.read())}.`,
  );
}

async function endsAtClose(bench: Bench): Promise<void> {
  const { preview } = await show(bench);
  const ids = await preview.close();
  const before = bench.platform.read();
  preview.update(grown(50));
  await realWait(400);
  if (JSON.stringify(bench.platform.read()) !== JSON.stringify(before))
    throw new Error("A preview changed after its close: it would overwrite the answer.");
  const again = await preview.close();
  if (JSON.stringify(again) !== JSON.stringify(ids)) throw new Error(`A second close names ${shown(again)}, and the first ${shown(ids)}.`);
}

async function namesMessages(bench: Bench): Promise<void> {
  const { preview, named } = await show(bench);
  await bench.until(
    () => named().length > 0,
    () => "The person sees a preview, and onMessage was not called: after a kill the message would stay.",
  );
  const closed = await preview.close();
  if (JSON.stringify(closed) !== JSON.stringify(named()))
    throw new Error(`close names the messages ${shown(closed)}, and onMessage named ${shown(named())}.`);
}

async function resumes(bench: Bench): Promise<void> {
  const first = await show(bench);
  const ids = await first.preview.close();
  const count = bench.platform.read().length;
  const second = openPreview(bench, first.address, ids);
  second.preview.update(grown(7));
  await bench.until(
    () => bench.platform.read().some((text) => progressOf(text) === 6),
    () => `A preview that was handed the messages ${shown(ids)} shows nothing in them.`,
  );
  await second.preview.close();
  if (bench.platform.read().length !== count) throw new Error("A preview that resumes made a new message: edit those in resume.");
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
  if (outcome === "late") throw new Error("The platform is away, and close of a preview does not end in time.");
  if ("error" in outcome)
    throw new Error("The platform is away, and close of a preview rejects: resolve with the messages.", { cause: outcome.error });
  if (!known.every((id) => outcome.value.includes(id)))
    throw new Error(`The platform is away, and close names ${shown(outcome.value)}: the messages ${shown(known)} are still there.`);
}

async function leavesNoTimer(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const own = await bench.timersAtRest();
  // One timer more may belong to a library; one for each preview does not.
  const previews = 4;
  for (let count = 0; count < previews; count += 1) {
    const { preview } = openPreview(bench, address);
    for (let words = 0; words < 20; words += 1) preview.update(grown(words));
    await preview.close();
  }
  let left = 0;
  await bench.until(
    async () => {
      left = (await bench.timersAtRest()) - own;
      return left < previews;
    },
    () => `After ${previews} previews were closed there are ${left} timers more than before them.`,
  );
}

export const previewRules: readonly Rule[] = [
  { title: "preview > a text is seen growing", capability: "edits", needs: [], run: shows },
  { title: "preview > never goes back", capability: "edits", needs: ["history"], run: neverGoesBack },
  { title: "preview > keeps the platform's pace", capability: "edits", needs: ["history"], run: keepsPace },
  { title: "preview > becomes the answer", capability: "edits", needs: [], run: becomesAnswer },
  { title: "preview > changes nothing after its close", capability: "edits", needs: [], run: endsAtClose },
  { title: "preview > names its messages", capability: "edits", needs: [], run: namesMessages },
  { title: "preview > takes up what a killed process left", capability: "edits", needs: [], run: resumes },
  { title: "preview > an outage does not stop its close", capability: "edits", needs: ["away"], run: survivesOutage },
  { title: "preview > leaves no timer", capability: "edits", needs: [], run: leavesNoTimer },
];
