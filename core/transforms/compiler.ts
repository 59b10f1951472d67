/**
 * Makes JavaScript of TypeScript that Node cannot strip (enums, namespaces, parameter properties): a process of its own,
 * for one file, because the compiler needs 100 MB and a transform is to have its memory for itself.
 */
import { createRequire } from "node:module";
import { readRequest, writeReply } from "./channel.ts";

interface Request {
  readonly id: string;
  readonly source: string;
  readonly filename: string;
  /** Real path of the library: by its name it may lie behind a link that this process may not read. */
  readonly library: string;
}

const request = readRequest() as Request;
const { createJiti } = createRequire(request.library)(request.library) as typeof import("jiti");
const jiti = createJiti(request.filename, { fsCache: false, moduleCache: false, interopDefault: false });
const reply = (fields: object) => writeReply(JSON.stringify({ id: request.id, files: [], ...fields }));
try {
  const code = jiti.transform({ source: request.source, filename: request.filename, ts: true });
  reply({ type: "compiled", code });
} catch (error) {
  reply({ type: "failed", kind: "threw", message: error instanceof Error ? error.message : String(error) });
}
