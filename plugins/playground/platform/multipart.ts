/** Parses `multipart/form-data` in memory. The server limits the size of bodies beforehand. */
import { badRequest } from "./errors.ts";

export interface Upload {
  readonly bytes: Buffer;
  readonly fileName: string;
  readonly mimeType: string;
}

export interface Form {
  readonly fields: Record<string, string>;
  readonly files: Record<string, Upload>;
}

const maxParts = 100;
const blankLine = Buffer.from("\r\n\r\n");

/** The boundary in a content type; `undefined` for other types. */
export function boundaryOf(contentType: string): string | undefined {
  const match = /^multipart\/form-data\s*;.*?boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(contentType);
  return match?.[1] ?? match?.[2];
}

/** Parses a body. Throws `ApiError` 400 if it is truncated or has more than 100 parts. */
export function parseMultipart(body: Buffer, boundary: string): Form {
  const form: Form = {
    fields: Object.create(null) as Record<string, string>,
    files: Object.create(null) as Record<string, Upload>,
  };
  const mark = Buffer.from(`--${boundary}`);
  const nextMark = Buffer.from(`\r\n--${boundary}`);
  let at = body.indexOf(mark);
  if (at === -1) throw badRequest("can't find the boundary in the multipart body");
  at += mark.length;
  for (let parts = 0; ; parts += 1) {
    if (body.subarray(at, at + 2).toString("latin1") === "--") return form;
    if (parts === maxParts) throw badRequest("too many parts in the multipart body");
    const headEnd = body.indexOf(blankLine, at);
    const end = headEnd === -1 ? -1 : body.indexOf(nextMark, headEnd + 2);
    if (end === -1) throw badRequest("the multipart body is cut short");
    addPart(form, body.subarray(at, headEnd).toString("utf8"), body.subarray(Math.min(headEnd + 4, end), end));
    at = end + nextMark.length;
  }
}

function addPart(form: Form, head: string, bytes: Buffer): void {
  const name = /content-disposition:[^\r\n]*?[\s;]name="([^"\r\n]*)"/i.exec(head)?.[1];
  if (name === undefined) throw badRequest("a part of the multipart body has no name");
  // Browsers quote the name; the common bot libraries do not.
  const named = /content-disposition:[^\r\n]*?[\s;]filename=(?:"([^"\r\n]*)"|([^"\r\n;]+))/i.exec(head);
  const fileName = named?.[1] ?? named?.[2];
  if (fileName === undefined) {
    form.fields[name] = bytes.toString("utf8");
    return;
  }
  const mimeType = /content-type:\s*([^\s;]+)/i.exec(head)?.[1] ?? "application/octet-stream";
  form.files[name] = { bytes: Buffer.from(bytes), fileName: decodeName(fileName), mimeType };
}

/** Undoes the percent-encoding of quotes and line breaks, the only characters that browsers encode in names. */
function decodeName(name: string): string {
  return name
    .replace(/%22/g, '"')
    .replace(/%0[ad]/gi, " ")
    .slice(0, 255);
}
