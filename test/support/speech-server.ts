/**
 * A small real HTTP server that transcribes and speaks as the servers of models do. It reads the form byte by byte:
 * what a real server would refuse, or would ignore in silence, is answered 400.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "./own-test.ts";
import { voiceNote } from "./voice-notes.ts";

interface Part {
  readonly name: string;
  readonly fileName?: string;
  readonly type?: string;
  readonly bytes: Buffer;
}

export interface SpeechRequest {
  readonly path: string;
  readonly key: string | undefined;
  /** Of a form, without its file; of a JSON body, all. */
  readonly fields: Readonly<Record<string, string>>;
  readonly file?: Part;
}

export type SpeechAnswer =
  | { readonly text: string | Promise<string> }
  | { readonly status: number; readonly body?: string }
  | { readonly hang: true }
  | { readonly bytes: Buffer };

export interface SpeechServer {
  /** Ends in `/v1`. */
  readonly url: string;
  readonly requests: readonly SpeechRequest[];
  /** The next answers, in order. Without one, a transcription is empty, and speech is a voice note. */
  script(...answers: readonly SpeechAnswer[]): void;
  close(): Promise<void>;
}

class Refused extends Error {}

function refuse(why: string): never {
  throw new Refused(why);
}

/** RFC 7578, without the liberties that it forbids senders. */
function partsOf(body: Buffer, contentType: string): readonly Part[] {
  const [, boundary] = /^multipart\/form-data; boundary="?([\w'()+,./:=?-]{1,70})"?$/.exec(contentType) ?? [];
  if (boundary === undefined) refuse(`content type ${contentType}`);
  const text = body.toString("latin1");
  const open = `--${boundary}\r\n`;
  const close = `\r\n--${boundary}--`;
  if (!text.startsWith(open)) refuse("the form does not begin with its boundary");
  const end = text.lastIndexOf(close);
  if (end < 0 || !["", "\r\n"].includes(text.slice(end + close.length))) refuse("the form does not end");
  return text
    .slice(open.length, end)
    .split(`\r\n${open}`)
    .map((part) => partOf(part));
}

function partOf(part: string): Part {
  const head = part.indexOf("\r\n\r\n");
  if (head < 0) refuse("a part has no empty line after its headers");
  const headers = new Map(
    part
      .slice(0, head)
      .split("\r\n")
      .map((line) => {
        const [, name = "", value = ""] = /^([A-Za-z-]+): (.*)$/.exec(line) ?? refuse(`header ${line}`);
        return [name.toLowerCase(), value] as const;
      }),
  );
  const disposition = /^form-data; name="([^"]+)"(?:; filename="([^"]+)")?$/.exec(
    headers.get("content-disposition") ?? "",
  );
  const [, name = "", fileName] = disposition ?? refuse("a part without a name");
  return { name, fileName, type: headers.get("content-type"), bytes: Buffer.from(part.slice(head + 4), "latin1") };
}

const oneOf = (fields: Readonly<Record<string, string>>, known: readonly string[], needed: readonly string[]): void => {
  for (const name of Object.keys(fields)) if (!known.includes(name)) refuse(`unknown field ${name}`);
  for (const name of needed) if (!fields[name]) refuse(`the field ${name} is missing`);
};

function readForm(body: Buffer, contentType: string): Pick<SpeechRequest, "fields" | "file"> {
  const parts = partsOf(body, contentType);
  const files = parts.filter(({ fileName }) => fileName !== undefined);
  const [file] = files;
  if (file === undefined || files.length !== 1 || file.name !== "file") refuse("not exactly one part `file`");
  if (!/^[\w-]+\.(?:ogg|mp3|m4a|mp4|wav|flac|webm)$/.test(file.fileName ?? "")) refuse(`file name ${file.fileName}`);
  if (!/^(?:audio|video)\/[a-z0-9]+$/.test(file.type ?? "")) refuse(`type of the file: ${file.type}`);
  if (file.type === "audio/ogg" && file.bytes.subarray(0, 4).toString() !== "OggS") refuse("Invalid file format.");
  const plain = parts.filter((part) => part !== file).map(({ name, bytes }) => [name, bytes.toString("utf8")]);
  const fields = Object.fromEntries(plain) as Record<string, string>;
  if (Object.keys(fields).length !== plain.length) refuse("a field is there twice");
  oneOf(fields, ["model", "language", "prompt", "response_format", "temperature"], ["model"]);
  if ((fields.response_format ?? "json") !== "json") refuse(`response_format ${fields.response_format}`);
  return { fields, file };
}

function readSpeech(body: Buffer, contentType: string): Pick<SpeechRequest, "fields"> {
  if (contentType !== "application/json") refuse(`content type ${contentType}`);
  const fields = JSON.parse(body.toString("utf8")) as Record<string, string>;
  oneOf(fields, ["model", "input", "voice", "response_format", "speed", "instructions"], ["model", "input", "voice"]);
  if ((fields.input ?? "").length > 4_096) refuse("input is too long");
  return { fields };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

export async function createSpeechServer({ port = 0 } = {}): Promise<SpeechServer> {
  const requests: SpeechRequest[] = [];
  const answers: SpeechAnswer[] = [];

  async function answer(response: ServerResponse, kind: "transcriptions" | "speech"): Promise<void> {
    const next = answers.shift() ?? (kind === "speech" ? { bytes: voiceNote("friday") } : { text: "" });
    if ("hang" in next) return;
    if ("status" in next) {
      response.writeHead(next.status, { "content-type": "application/json" });
      response.end(next.body ?? JSON.stringify({ error: { message: "out of order" } }));
    } else if ("bytes" in next) {
      response.writeHead(200, { "content-type": "audio/ogg" });
      response.end(next.bytes);
    } else {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ text: await next.text }));
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const { "content-type": contentType = "", authorization: key } = request.headers;
    const path = request.url ?? "";
    try {
      if (request.method !== "POST") refuse(request.method ?? "");
      if (path !== "/v1/audio/transcriptions" && path !== "/v1/audio/speech") refuse(`unknown path ${path}`);
      const isForm = path.endsWith("transcriptions");
      requests.push({ path, key, ...(isForm ? readForm(body, contentType) : readSpeech(body, contentType)) });
      await answer(response, isForm ? "transcriptions" : "speech");
    } catch (error) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: error instanceof Error ? error.message : "?" } }));
    }
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    script: (...more) => void answers.push(...more),
    close,
  };
}
