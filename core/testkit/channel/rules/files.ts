/** Files of people, and of the bot. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { type Address, ChannelError, type InboundMedia } from "../../../contract/index.ts";
import { type Bench, never, shown, textReply } from "../bench.ts";
import type { Rule } from "../rule.ts";

const limit = 1_000_000;
const note = { name: "note.txt", mimeType: "text/plain", bytes: Buffer.from("Buy milk.\n".repeat(200)) };

type Fetched = Awaited<ReturnType<NonNullable<Bench["connection"]["fetchMedia"]>>>;

/** The person sends a file; resolves with what `parse` makes of it. */
async function receive(bench: Bench, file = note): Promise<InboundMedia> {
  await bench.connection.start();
  await bench.platform.write("See this", { file });
  const files = () => bench.messages().flatMap(({ inbound }) => inbound.media);
  await bench.until(
    () => files().length > 0,
    () => "The person sent a file, but no message with media was received.",
  );
  return files()[0] as InboundMedia;
}

async function fetched(bench: Bench, media: InboundMedia, { maxBytes = limit, signal = never } = {}): Promise<Fetched> {
  const file = await bench.connection.fetchMedia?.(media, { maxBytes, signal });
  if (file === undefined) throw new Error("fetchMedia returns nothing.");
  return file;
}

async function isDescribed(bench: Bench): Promise<void> {
  const media = await receive(bench);
  if (typeof media.ref !== "string" || media.ref === "")
    throw new Error(`The file ${shown(media)} has no ref, which fetchMedia needs to find it.`);
  if (media.fileName !== undefined && media.fileName !== note.name)
    throw new Error(`The file ${note.name} has the name ${shown(media.fileName)}.`);
  if (media.size !== undefined && media.size !== note.bytes.length)
    throw new Error(
      `The file of ${note.bytes.length} bytes has the size ${media.size}. Set the size in bytes, or omit it.`,
    );
}

async function arrivesWhole(bench: Bench): Promise<void> {
  const file = await fetched(bench, await receive(bench));
  if (!readFileSync(file.path).equals(note.bytes))
    throw new Error("The fetched file has another content than the sent one.");
  if (file.size !== note.bytes.length)
    throw new Error(`The file of ${note.bytes.length} bytes was fetched with the size ${file.size}.`);
  if (!/^[\w.+-]+\/[\w.+-]+/.test(file.mimeType))
    throw new Error(`The file was fetched with the type ${shown(file.mimeType)}.`);
}

/** The sizes of all files in a directory. */
function sizesIn(directory: string): readonly number[] {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return names.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
}

/** The error of a fetch that has to fail for good. */
async function refused(bench: Bench, fetching: Promise<Fetched>, situation: string): Promise<void> {
  const outcome = await bench.ending(fetching);
  if (outcome === "late") throw new Error(`${situation}, and fetchMedia does not end in time.`);
  if ("value" in outcome)
    throw new Error(`${situation}, and fetchMedia resolves. Throw a ChannelError with a detail for the agent.`);
  if (!(outcome.error instanceof ChannelError))
    throw new Error(`${situation}, and fetchMedia throws an error that is not a ChannelError.`, {
      cause: outcome.error,
    });
}

async function keepsLimit(bench: Bench): Promise<void> {
  const media = await receive(bench);
  const { size: _, ...unknown } = media;
  await refused(bench, fetched(bench, media, { maxBytes: 1_000 }), "A file is larger than maxBytes");
  await refused(
    bench,
    fetched(bench, unknown, { maxBytes: 1_000 }),
    "A file is larger than maxBytes, and the event does not say so",
  );
  const left = sizesIn(bench.test.account.directory).filter((size) => size > 1_000);
  if (left.length > 0)
    throw new Error(
      `A file that is too large left ${left[0]} bytes on the disk. Stop at maxBytes, and delete the partial file.`,
    );
}

async function saysLost(bench: Bench): Promise<void> {
  const media = await receive(bench);
  await bench.fail("lose");
  await refused(bench, fetched(bench, media), "The platform no longer has the file");
}

async function stopsAtAbort(bench: Bench): Promise<void> {
  const media = await receive(bench);
  const outcome = await bench.ending(fetched(bench, media, { signal: AbortSignal.abort() }));
  if (outcome === "late" || "value" in outcome) throw new Error("The signal was aborted, but fetchMedia continued.");
}

async function staysInside(bench: Bench): Promise<void> {
  const media = await receive(bench, { ...note, name: "../../../outside.txt" });
  const { path } = await fetched(bench, media);
  const folder = `${join(bench.test.account.directory)}${sep}`;
  if (!join(path).startsWith(folder))
    throw new Error(
      `A file with the name ../../../outside.txt was stored at ${path}. Never use a sender's file name as a path.`,
    );
}

/** A reply with a file, sent. */
async function sendFile(bench: Bench, text: string, address: Address): Promise<void> {
  const path = join(bench.test.account.directory, "report.txt");
  writeFileSync(path, note.bytes);
  const media = [{ path, mimeType: "text/plain", fileName: "report.txt", size: note.bytes.length }];
  for (const part of bench.connection.render(textReply(text, { media }), address))
    await bench.connection.send(part, address, never);
}

async function sends(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  await sendFile(bench, "Here it is", address);
  const files = () => bench.able("files")();
  await bench.until(
    () => files().length > 0,
    () => "A reply with a file was sent, but the person sees no file.",
  );
  const [file] = files();
  if (file === undefined || !Buffer.from(file.bytes).equals(note.bytes))
    throw new Error("The file arrived with another content.");
}

async function keepsLongCaption(bench: Bench): Promise<void> {
  const { address } = await bench.meet("Hello");
  const { maxChars } = bench.capabilities;
  const words = Array.from({ length: maxChars }, (_, index) => `word${index}`).join(" ");
  // One message without the file; the text beside a file often has a lower limit.
  const text = words.slice(0, maxChars - 10).trimEnd();
  await sendFile(bench, text, address);
  const seen = () => bench.platform.read().join("").replace(/\s+/g, "");
  await bench.until(
    () => seen() === text.replace(/\s+/g, ""),
    () => `The person sees ${seen().length} of the ${text.length} characters beside a file. Send the rest as messages.`,
  );
}

export const fileRules: readonly Rule[] = [
  { title: "files > a file of a person is described", capability: "media", needs: ["files"], run: isDescribed },
  { title: "files > a file is fetched completely", function: "fetchMedia", needs: ["files"], run: arrivesWhole },
  { title: "files > a file above the limit is refused", function: "fetchMedia", needs: ["files"], run: keepsLimit },
  { title: "files > a deleted file is refused", function: "fetchMedia", needs: ["files", "lose"], run: saysLost },
  { title: "files > an abort ends the fetch", function: "fetchMedia", needs: ["files"], run: stopsAtAbort },
  {
    title: "files > a sender's file name is not used as a path",
    function: "fetchMedia",
    needs: ["files"],
    run: staysInside,
  },
  { title: "files > a file of the bot arrives", capability: "media", needs: ["files"], run: sends },
  { title: "files > a text beside a file may be long", capability: "media", needs: ["files"], run: keepsLongCaption },
];
