/**
 * Sends a call with files as `multipart/form-data`. Each file has its own type, the length is known beforehand, and
 * files are read only as fast as they are sent. The library's own encoder sends every file as
 * `application/octet-stream`.
 */
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";

/** A file in a payload. */
export class Upload {
  readonly path: string;
  /** The file name in a form that is safe for a header. */
  readonly name: string;
  readonly type: string;
  readonly size: number;

  constructor({ path, name, type, size }: Pick<Upload, "path" | "name" | "type" | "size">) {
    this.path = path;
    this.name = name;
    this.type = type;
    this.size = size;
  }
}

export interface Form {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

type Piece = Buffer | Upload;

/** Separates the files from a payload and replaces each with a reference. */
function fieldsOf(payload: object): {
  readonly fields: readonly (readonly [name: string, text: string])[];
  readonly uploads: readonly Upload[];
} {
  const uploads: Upload[] = [];
  const named = (value: unknown) =>
    value instanceof Upload ? `attach://file${uploads.push(value)}` : (value ?? undefined);
  const textOf = (value: unknown) =>
    typeof value === "object" ? JSON.stringify(value, (_, inner) => named(inner)) : String(value);
  const fields = Object.entries(payload).flatMap(([name, value]) => {
    const given = named(value);
    return given === undefined ? [] : [[name, textOf(given)] as const];
  });
  return { fields, uploads };
}

async function* read(pieces: readonly Piece[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (piece instanceof Upload) yield* createReadStream(piece.path) as AsyncIterable<Buffer>;
    else yield piece;
  }
}

function holdsUpload(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof Upload || Object.values(value).some(holdsUpload);
}

/** Creates the form of a payload; `undefined` if it contains no file, which is the usual case. */
export function formOf(payload: object): Form | undefined {
  if (!holdsUpload(payload)) return undefined;
  const { fields, uploads } = fieldsOf(payload);
  const boundary = randomUUID();
  const begin = (name: string, more = "") =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const pieces: readonly Piece[] = [
    ...fields.map(([name, text]) => Buffer.from(`${begin(name)}${text}\r\n`)),
    ...uploads.flatMap((upload, index) => [
      Buffer.from(begin(`file${index + 1}`, `; filename="${upload.name}"\r\ncontent-type: ${upload.type}`)),
      upload,
      Buffer.from("\r\n"),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ];
  const length = pieces.reduce((sum, piece) => sum + (piece instanceof Upload ? piece.size : piece.length), 0);
  return {
    headers: { "content-type": `multipart/form-data; boundary=${boundary}`, "content-length": String(length) },
    body: Readable.from(read(pieces), { objectMode: false }),
  };
}
